"""What PyTorch casts to 16 bits by itself, and what it says of an older name for that."""


class Autocast:
    """Autocast on one kind of device, to one type of 16 bits."""

    def __init__(self, device, dtype):
        """Remember the names of both."""
        self.device, self.dtype = device, dtype

    def cast(self):
        """Run under autocast, and look at types and warnings."""
        import warnings

        import torch

        with torch.amp.autocast(self.device, dtype=getattr(torch, self.dtype)):
            ones = torch.ones(4, 4, device=self.device)
            product = ones @ ones
            soft = torch.softmax(product, dim=-1)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.amp.autocast(enabled=False)
        deprecated = [one for one in caught if "deprecated" in str(one.message)]
        return {
            "product": str(product.dtype),
            "softmax": str(soft.dtype),
            "named_api_deprecated": bool(deprecated),
        }


on_cpu = Autocast("cpu", "bfloat16")
on_gpu = Autocast("cuda", "float16")
