"""Draws images of ten kinds of garments: 28x28 pixels, grey, with noise.

A stand-in for Fashion-MNIST, which cannot be downloaded where this has to run:
the classes and the format are the same, the pictures are simple polygons whose
place, size, slant and brightness vary. Everything follows from the seed.

    rng = np.random.default_rng(0)
    images, labels = draw(rng, 1000)      # uint8 (1000, 28, 28), int64 (1000,)
"""
import numpy as np

SIZE = 28
CLASSES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal",
           "Shirt", "Sneaker", "Bag", "Ankle boot"]
NOISE = 28.0  # standard deviation, of 255


def mirrored(points):
    """The other half of an outline around the middle, x = 0.5."""
    return points + [(1 - x, y) for x, y in reversed(points)]


def top(sleeve, hem, width):
    """A garment with sleeves that reach down to `sleeve`."""
    return mirrored([(0.42, 0.12), (0.30, 0.14), (0.06, sleeve),
                     (0.20, sleeve + 0.06), (0.31, 0.34), (width, hem)])


# For each class, polygons (x to the right, y down, from 0 to 1) and how bright
# each is; a later one covers those before it.
def outlines(rng, label):
    vary = lambda low, high: rng.uniform(low, high)
    if label == 0:
        return [(top(vary(0.34, 0.42), 0.90, 0.30), 1.0)]
    if label == 1:
        gap = vary(0.02, 0.05)
        return [(mirrored([(0.33, 0.06), (0.30, 0.95), (0.46, 0.95),
                           (0.5 - gap, 0.36)]), 1.0)]
    if label == 2:
        return [(top(vary(0.76, 0.88), 0.90, 0.28), 1.0),
                (mirrored([(0.40, 0.11), (0.44, 0.18)]), 0.5)]
    if label == 3:
        return [(mirrored([(0.42, 0.05), (0.36, 0.10), (0.40, 0.38),
                           (vary(0.22, 0.32), 0.95)]), 1.0)]
    if label == 4:
        return [(top(vary(0.76, 0.88), 0.96, 0.24), 0.9),
                (mirrored([(0.485, 0.12), (0.485, 0.96)]), 0.3)]
    if label == 5:
        heel = vary(0.50, 0.62)
        return [([(0.05, 0.70), (0.95, heel), (0.95, 0.74), (0.05, 0.80)], 0.9),
                ([(0.20, 0.70), (0.38, 0.46), (0.46, 0.46), (0.30, 0.70)], 0.7),
                ([(0.60, 0.62), (0.76, 0.36), (0.84, 0.36), (0.72, 0.60)], 0.7)]
    if label == 6:
        buttons = [([(0.48, y), (0.52, y), (0.52, y + 0.05), (0.48, y + 0.05)],
                    0.2) for y in (0.28, 0.44, 0.60, 0.76)]
        return [(top(vary(0.46, 0.84), 0.92, 0.29), 0.85),
                (mirrored([(0.38, 0.10), (0.48, 0.22)]), 1.0)] + buttons
    if label == 7:
        return [([(0.04, 0.62), (0.30, 0.54), (0.52, 0.40), (0.70, 0.38),
                  (0.95, vary(0.40, 0.48)), (0.96, 0.72), (0.04, 0.72)], 0.9),
                ([(0.04, 0.70), (0.96, 0.70), (0.96, 0.78), (0.04, 0.78)], 0.4)]
    if label == 8:
        handle = vary(0.10, 0.22)
        return [(mirrored([(0.26, handle), (0.20, 0.42)]), 0.6),
                (mirrored([(0.33, handle + 0.09), (0.30, 0.42)]), 0.0),
                (mirrored([(0.10, 0.38), (0.06, 0.86)]), 1.0)]
    return [([(0.06, 0.66), (0.34, 0.54), (0.52, 0.46), (0.54, 0.10),
              (0.90, vary(0.06, 0.14)), (0.93, 0.82), (0.06, 0.82)], 0.95),
            ([(0.06, 0.80), (0.94, 0.80), (0.94, 0.88), (0.06, 0.88)], 0.45)]


def inside(points, x, y):
    """Whether a ray from (x, y) crosses the outline an odd number of times."""
    result = np.zeros(x.shape, dtype=bool)
    ends = points[1:] + points[:1]
    for (x0, y0), (x1, y1) in zip(points, ends):
        if y0 == y1:
            continue
        crosses = (y0 > y) != (y1 > y)
        result ^= crosses & (x < x0 + (y - y0) / (y1 - y0) * (x1 - x0))
    return result


def draw_one(rng, label):
    grid = (np.arange(SIZE) + 0.5) / SIZE
    y, x = np.meshgrid(grid, grid, indexing="ij")
    # Where a pixel lies in the picture that is not moved, slanted and scaled.
    x = (x - 0.5 - rng.uniform(-0.06, 0.06)) / rng.uniform(0.85, 1.1) + 0.5
    y = (y - 0.5 - rng.uniform(-0.06, 0.06)) / rng.uniform(0.85, 1.1) + 0.5
    x = x + (y - 0.5) * rng.uniform(-0.12, 0.12)
    image = np.zeros((SIZE, SIZE))
    for points, brightness in outlines(rng, label):
        image[inside(points, x, y)] = brightness
    image *= rng.uniform(110, 240)
    image += rng.normal(0, NOISE, image.shape) * (image > 0)
    image += rng.normal(0, NOISE / 4, image.shape)
    return np.clip(np.round(image), 0, 255).astype(np.uint8)


def draw(rng, count):
    """`count` images, of each class equally many in a random order."""
    labels = rng.permutation(np.arange(count) % len(CLASSES))
    return np.stack([draw_one(rng, label) for label in labels]), labels


if __name__ == "__main__":
    shades = " .:-=+*#%@"
    drawn, kinds = draw(np.random.default_rng(0), 10)
    for picture, kind in zip(drawn, kinds):
        print(CLASSES[kind])
        for row in picture // 26:
            print("".join(shades[value] * 2 for value in row))
