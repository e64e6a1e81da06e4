"""Builds the kernels of the guests that live interop talks to: User-Mode Linux with Soft-iWARP (siw) from Debian's
linux-source package, one image per variant of the driver, kept in a cache folder.

Debian's kernels leave siw out, and its user-mode-linux has no InfiniBand. The driver's switches are constants, not module
parameters, hence a variant is an image of its own; a further one costs one file and a link."""
import fcntl
import hashlib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
SOURCE = '/usr/src/linux-source-6.1.tar.xz'
DRIVER = 'drivers/infiniband/sw/siw/siw_main.c'
TOOLS = ('make', 'gcc', 'flex', 'bison', 'bc', 'xz')
# Constants of the driver by variant.
VARIANTS = {
    'stock': {},
    'crc': {'mpa_crc_required': 'true', 'mpa_crc_strict': 'true'},
    'p2p': {'peer_to_peer': 'true'},
}
# Sources that no User-Mode Linux kernel is made of.
LEFT_OUT = ('arch/[a-t]*.[chS]', 'arch/[a-t]*.dts*', 'Documentation/*.rst', 'drivers/gpu/*.[ch]', 'drivers/media/*.[ch]',
            'drivers/staging/*.[ch]', 'drivers/net/wireless/*.[ch]', 'sound/*.[ch]', 'tools/testing', 'tools/perf')


class Unable(Exception):
    """This machine lacks something; the text says what."""


def cache_dir():
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return os.path.join(os.environ.get('RNICSIM_CACHE') or os.path.join(base, 'rnicsim'), 'uml')


def image(variant):
    return os.path.join(cache_dir(), f'linux-{variant}')


def missing():
    """What a build would need and this machine does not have."""
    paths = [os.path.join(p, tool) for tool in TOOLS for p in os.environ['PATH'].split(':')]
    lacking = [tool for tool in TOOLS if not any(p.endswith('/' + tool) and os.access(p, os.X_OK) for p in paths)]
    return lacking + ([] if os.path.exists(SOURCE) else [SOURCE])


def run(log, *command):
    with open(log, 'ab') as out:
        if subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                          env={**os.environ, 'LC_ALL': 'C'}).returncode == 0:
            return
    with open(log, errors='replace') as text:
        sys.stderr.writelines(text.readlines()[-15:])
    raise Unable(f'{" ".join(command[:2])} failed; see {log}')


def stamp(*contents):
    return hashlib.sha256(b'\0'.join(contents)).hexdigest()


def read(path):
    try:
        with open(path, 'rb') as f:
            return f.read()
    except FileNotFoundError:
        return b''


def write(path, content):
    with open(path, 'wb') as f:
        f.write(content)


def unpack(tree, log):
    mark = f'{os.path.getsize(SOURCE)} {os.path.getmtime(SOURCE)}'.encode()
    if read(tree + '.mark') == mark:
        return
    run(log, 'rm', '-rf', tree)
    os.makedirs(tree)
    run(log, 'tar', '-xJf', SOURCE, '-C', tree, '--strip-components=1', '--wildcards',
        *[f'--exclude=linux-source-6.1/{name}' for name in LEFT_OUT])
    write(tree + '.siw_main.c', read(os.path.join(tree, DRIVER)))
    write(tree + '.mark', mark)


def configure(tree, objects, log):
    wanted = read(os.path.join(HERE, 'kernel.config'))
    mark = stamp(wanted, read(tree + '.mark'))
    if read(objects + '.mark').decode() == mark:
        return
    os.makedirs(objects, exist_ok=True)
    run(log, 'make', '-C', tree, f'O={objects}', 'ARCH=um', f'KCONFIG_ALLCONFIG={HERE}/kernel.config', 'allnoconfig')
    got = read(os.path.join(objects, '.config')).splitlines()
    lost = [line for line in wanted.splitlines() if line.startswith(b'CONFIG_') and line not in got]
    if lost:
        raise Unable(f'the kernel has no {lost[0].decode()}')
    for variant in VARIANTS:
        if os.path.exists(image(variant)):
            os.remove(image(variant))
    write(objects + '.mark', mark.encode())


def driver_source(original, variant):
    text = original.decode()
    for name, value in VARIANTS[variant].items():
        text, n = re.subn(rf'^(const bool {name})( = \w+)?;', rf'\1 = {value};', text, flags=re.M)
        if n != 1:
            raise Unable(f'the driver has no constant {name}')
    return text.encode()


def build(variants, allowed=True):
    """Makes the images that are not there yet. Unable if this machine cannot, or may not."""
    complete = all(os.path.exists(image(v)) for v in variants)
    if not complete and not allowed:
        raise Unable('the guest kernels are not built; scripts/interop.sh --prepare does it')
    if missing() and not complete:
        raise Unable(f'to build the guest kernel there is no {", ".join(missing())}')
    cache = cache_dir()
    os.makedirs(cache, exist_ok=True)
    with open(os.path.join(cache, 'lock'), 'w') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if missing() or not allowed:
            return  # what is there is there
        tree, objects, log = (os.path.join(cache, name) for name in ('source', 'objects', 'build.log'))
        unpack(tree, log)
        configure(tree, objects, log)
        original = read(tree + '.siw_main.c')
        for variant in variants:
            if os.path.exists(image(variant)):
                continue
            print(f'interop: building the guest kernel, variant {variant}', flush=True)
            write(os.path.join(tree, DRIVER), driver_source(original, variant))
            run(log, 'make', '-C', tree, f'O={objects}', 'ARCH=um', f'-j{os.cpu_count()}', 'linux')
            run(log, 'strip', '-o', image(variant) + '.new', os.path.join(objects, 'linux'))
            os.rename(image(variant) + '.new', image(variant))


if __name__ == '__main__':
    try:
        build(sys.argv[1:] or list(VARIANTS))
    except Unable as e:
        sys.exit(f'kernel: {e}')
