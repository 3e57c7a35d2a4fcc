"""Names the garments of images, with the model in a file, by ctypes alone.

    python3 classify.py libkiln_rt.so model.so image.npy

NumPy, where it is installed, reads the images and has the results as an array
over the same memory; without it, struct does.
"""

import ctypes
import struct
import sys

try:
    import numpy
except ImportError:
    numpy = None

NAMES = ["T-shirt", "trousers", "pullover", "dress", "coat", "sandal", "shirt",
         "sneaker", "bag", "ankle boot"]

KIND_TENSOR = 1  # KilnKind of kiln.h
CPU, FLOAT = 1, 2  # of DLPack
PIXELS = 784


class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class DataType(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    """KilnDlTensor of dlpack.h."""
    _fields_ = [("data", ctypes.c_void_p), ("device", Device),
                ("ndim", ctypes.c_int32), ("dtype", DataType),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class ArgumentUnion(ctypes.Union):
    _fields_ = [("tensor", ctypes.POINTER(Tensor)),
                ("integer", ctypes.c_int64), ("real", ctypes.c_double),
                ("text", ctypes.c_char_p)]


class Argument(ctypes.Structure):
    """KilnArgument of kiln.h."""
    _fields_ = [("kind", ctypes.c_int32), ("count", ctypes.c_int32),
                ("value", ArgumentUnion)]


class KilnError(Exception):
    pass


class Kiln:
    """The runtime: a shared library."""

    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        self.lib.KilnErrorText.restype = ctypes.c_char_p

    def check(self, status):
        if status != 0:
            raise KilnError(self.lib.KilnErrorText().decode())


class Model:
    """A compiled model, and a machine that runs it."""

    def __init__(self, kiln, path):
        self.kiln = kiln
        self.model, self.machine = ctypes.c_void_p(), ctypes.c_void_p()
        kiln.check(kiln.lib.KilnModelOpen(path.encode(),
                                          ctypes.byref(self.model)))
        kiln.check(kiln.lib.KilnMachineCreate(self.model, None,
                                              ctypes.byref(self.machine)))

    def close(self):
        self.kiln.lib.KilnMachineDestroy(self.machine)
        self.kiln.lib.KilnModelClose(self.model)

    def call(self, function, *tensors):
        """What the function gives for the tensors: a KilnValue."""
        arguments = (Argument * len(tensors))()
        for argument, tensor in zip(arguments, tensors):
            argument.kind = KIND_TENSOR
            argument.value.tensor = ctypes.pointer(tensor)
        value = ctypes.c_void_p()
        self.kiln.check(self.kiln.lib.KilnMachineCall(
            self.machine, function.encode(), arguments, len(tensors),
            ctypes.byref(value)))
        return value

    def release(self, value):
        self.kiln.lib.KilnValueRelease(value)

    def tensor_of(self, value):
        """A view, good until the value is released."""
        tensor = Tensor()
        self.kiln.check(self.kiln.lib.KilnValueTensor(value,
                                                      ctypes.byref(tensor)))
        return tensor


def tensor_over(address, shape):
    extents = (ctypes.c_int64 * len(shape))(*shape)
    return Tensor(address, Device(CPU, 0), len(shape), DataType(FLOAT, 32, 1),
                  extents, None, 0)


def read_images(path):
    """Floats of images, and what has to be kept for as long as they are used."""
    if numpy is not None:
        images = numpy.ascontiguousarray(numpy.load(path), dtype="float32")
        return tensor_over(images.ctypes.data, images.shape), images
    with open(path, "rb") as file:
        content = file.read()
    begin = 10 + struct.unpack_from("<H", content, 8)[0]
    count = (len(content) - begin) // 4
    floats = (ctypes.c_float * count).from_buffer_copy(content, begin)
    shape = (count // PIXELS, PIXELS)
    return tensor_over(ctypes.addressof(floats), shape), floats


def rows_of(tensor):
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    floats = ctypes.cast(tensor.data, ctypes.POINTER(ctypes.c_float))
    if numpy is not None:
        return numpy.ctypeslib.as_array(floats, shape)
    return [floats[i * shape[1]:(i + 1) * shape[1]] for i in range(shape[0])]


def main(arguments):
    if len(arguments) != 4:
        print(__doc__.strip(), file=sys.stderr)
        return 1
    try:
        model = Model(Kiln(arguments[1]), arguments[2])
        images, keep = read_images(arguments[3])
        value = model.call("main", images)
        del keep
        for row in rows_of(model.tensor_of(value)):
            scores = list(row)
            best = scores.index(max(scores))
            print("%s (%.3f)" % (NAMES[best], scores[best]))
        model.release(value)
        model.close()
    except (KilnError, OSError) as error:
        print("classify: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
