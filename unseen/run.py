"""Run all of them, with and without the doctor."""
import json, os, subprocess, sys, tempfile
from pathlib import Path
sys.path.insert(0, "/work/wt/fresh")
from tests.doctor import corpus
HERE = Path(__file__).parent
corpus.FOLDER = HERE; corpus.EXPECTED = HERE/"expected.toml"
OUT = Path("/tmp/t/fresh-out"); OUT.mkdir(exist_ok=True)
env = {k:v for k,v in os.environ.items() if not k.startswith("JAX_")}
def run(cmd, numba):
    e = {**env, "JAX_PLATFORMS":"cpu","NUMBA_CACHE_DIR":numba,"PYTHONDONTWRITEBYTECODE":"1","PYTHONHASHSEED":"0","PYTHONPATH":"/work/wt/fresh/src"}
    return subprocess.run([sys.executable,*cmd],cwd=HERE,env=e,capture_output=True,text=True,timeout=240)
wanted = sys.argv[1:]
for p in corpus.programs():
    if wanted and not any(w in p.name for w in wanted): continue
    if not (OUT/(p.name.replace("/","-")+".plain")).exists() or 1:
        plain = run(p.arguments, tempfile.mkdtemp())
    f = OUT/(p.name.replace("/","-")+".json"); f.unlink(missing_ok=True)
    every = ["--all"] if p.draws else []
    r = run(["-m","coldwarm","doctor","--format","json","--out",str(f),*every,*p.arguments], tempfile.mkdtemp())
    told = []
    if plain.returncode != p.exit: told.append(f"PLAIN exit {plain.returncode}: {plain.stderr[-600:]}")
    if (r.returncode, r.stdout) != (plain.returncode, plain.stdout): told.append(f"DIFFERS {r.returncode} {r.stdout!r} {plain.stdout!r} {r.stderr[-600:]}")
    if not f.exists(): print(p.name, "NO REPORT", r.stderr[-1500:]); continue
    found = json.loads(f.read_text())["findings"]
    named = p.named(found)
    def show(x): return f"{x['pattern']} {x['path']}:{x['line']} cost={x.get('cost_s')} | {x.get('source')} | {x.get('evidence')}"
    for fault in p.faults:
        if fault not in named: told.append(f"MISS {set(fault.patterns)} {[ (q.name, l) for q,l in fault.places]}")
        elif (fault.cause or fault.argument) and not any(fault.is_named_by(x) and fault.is_explained_by(x) for x in found): told.append(f"CAUSE wanted {fault.cause} {fault.argument}: " + str([x.get('cause') for x in found if fault.is_named_by(x)]))
    told += ["FALSE " + show(x) for x in p.false(found)]
    if any(t.startswith("MISS") for t in told): told += ["  said " + show(x) for x in found if x not in p.false(found)]
    print(p.name, "ok" if not told else "", flush=True)
    for t in told: print("    ", t, flush=True)
