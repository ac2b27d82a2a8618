"""What PyTorch casts to 16 bits by itself, and what it says of an older name for that."""


class Autocast:
    """Autocast on one kind of device, to one type of 16 bits."""

    def __init__(self, device, dtype):
        """Remember the names of both."""
        self.device, self.dtype = device, dtype

    def cast(self):
        """Run products, and what is not safe in 16 bits, under autocast."""
        import torch
        from torch.nn.functional import linear, mse_loss

        ones = torch.ones(4, 4, device=self.device)
        with torch.amp.autocast(self.device, dtype=getattr(torch, self.dtype)):
            product = ones @ ones
            safe = [product, linear(ones, ones), torch.bmm(ones[None], ones[None])]
            # Their arguments are of 16 bits already, so they have to be cast back.
            unsafe = [product.prod(), mse_loss(product, product), torch.cdist(product, product)]
        return {
            "safe_in_16_bits": all(one.dtype == getattr(torch, self.dtype) for one in safe),
            "unsafe_in_32_bits": all(one.dtype == torch.float32 for one in unsafe),
            "named_api_deprecated": self._is_deprecated(),
        }

    @staticmethod
    def _is_deprecated():
        import warnings

        import torch

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.cuda.amp.autocast(enabled=False)
        return any("deprecated" in str(one.message) for one in caught)


on_cpu = Autocast("cpu", "bfloat16")
on_gpu = Autocast("cuda", "float16")
