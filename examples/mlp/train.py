"""Trains an MLP of 784-128-10 on the images of draw_images.py.

    python3 examples/mlp/train.py

writes into examples/mlp/data, in float32, as kiln's models read them:

    weights.npz   w0 (128, 784), b0 (128,), w1 (10, 128), b1 (10,)
    test.npz      images (300, 784) of uint8, labels (300,): never trained on
    image.npy     (1, 784) of float32 in [0, 1], the first of them

The model is relu(x @ w0.T + b0) @ w1.T + b1, of pixels divided by 255. Plain
stochastic gradient descent in NumPy; everything follows from the seed.
"""
import pathlib

import numpy as np

import draw_images

SEED = 7
TRAINED, TESTED = 12000, 300
HIDDEN, EPOCHS, BATCH, RATE = 128, 12, 50, 0.1
FOLDER = pathlib.Path(__file__).parent / "data"


def scaled(images):
    return images.reshape(len(images), -1).astype(np.float32) / np.float32(255)


def forward(weights, x):
    hidden = np.maximum(x @ weights["w0"].T + weights["b0"], 0)
    return hidden, hidden @ weights["w1"].T + weights["b1"]


def accuracy(weights, x, labels):
    return float(np.mean(np.argmax(forward(weights, x)[1], axis=1) == labels))


def step(weights, x, labels):
    """One step down the gradient of the mean cross entropy of a batch."""
    hidden, logits = forward(weights, x)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    error = odds / odds.sum(axis=1, keepdims=True)
    error[np.arange(len(labels)), labels] -= 1
    error /= len(labels)
    below = (error @ weights["w1"]) * (hidden > 0)
    gradients = {"w0": below.T @ x, "b0": below.sum(axis=0),
                 "w1": error.T @ hidden, "b1": error.sum(axis=0)}
    for name, gradient in gradients.items():
        weights[name] -= np.float32(RATE) * gradient.astype(np.float32)


def initial(rng):
    def layer(outputs, inputs):
        spread = np.sqrt(2 / inputs)
        return rng.normal(0, spread, (outputs, inputs)).astype(np.float32)
    classes = len(draw_images.CLASSES)
    return {"w0": layer(HIDDEN, draw_images.SIZE ** 2),
            "b0": np.zeros(HIDDEN, np.float32),
            "w1": layer(classes, HIDDEN), "b1": np.zeros(classes, np.float32)}


def main():
    rng = np.random.default_rng(SEED)
    images, labels = draw_images.draw(rng, TRAINED)
    tests, answers = draw_images.draw(rng, TESTED)
    x, weights = scaled(images), initial(rng)
    for epoch in range(EPOCHS):
        for batch in np.array_split(rng.permutation(TRAINED), TRAINED // BATCH):
            step(weights, x[batch], labels[batch])
        print(f"epoch {epoch + 1}: {accuracy(weights, x, labels):.4f} of the "
              f"trained, {accuracy(weights, scaled(tests), answers):.4f} of the "
              "others")
    FOLDER.mkdir(exist_ok=True)
    np.savez_compressed(FOLDER / "weights.npz", **weights)
    np.savez_compressed(FOLDER / "test.npz", images=tests.reshape(TESTED, -1),
                        labels=answers)
    np.save(FOLDER / "image.npy", scaled(tests[:1]))


if __name__ == "__main__":
    main()
