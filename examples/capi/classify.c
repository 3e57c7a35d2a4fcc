/* Names the garments of an image, with the model in a file:
 *
 *   classify model.so image.npy
 *
 * The model's function main takes float32[n, 784], pixels from 0 to 1, and
 * gives float32[n, 10]. Needs kiln.h, dlpack.h and libkiln_rt.so of Kiln. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kiln/vm/capi/kiln.h"

enum { kPixels = 784, kClasses = 10 };

static const char* const kNames[kClasses] = {
    "T-shirt", "trousers", "pullover", "dress", "coat",
    "sandal",  "shirt",    "sneaker",  "bag",   "ankle boot"};

/* The floats of an .npy file of float32[1, 784]: its last bytes. */
static int ReadImage(const char* path, float* pixels) {
  FILE* file = fopen(path, "rb");
  int ok = file != NULL &&
           fseek(file, -(long)(kPixels * sizeof(float)), SEEK_END) == 0 &&
           fread(pixels, sizeof(float), kPixels, file) == kPixels;
  if (file != NULL) fclose(file);
  return ok;
}

/* Prints the class of the largest score. */
static void PrintClass(const KilnDlTensor* scores) {
  const float* row = (const float*)scores->data;
  int i, best = 0;
  for (i = 1; i < kClasses; ++i) {
    if (row[i] > row[best]) best = i;
  }
  printf("%s (%.3f)\n", kNames[best], row[best]);
}

/* 0, or a status of Kiln's. */
static int32_t Classify(const KilnModel* model, float* pixels) {
  int64_t shape[] = {1, kPixels};
  KilnDlTensor image = {pixels, {KILN_DL_CPU, 0}, 2, {KILN_DL_FLOAT, 32, 1},
                        shape,  NULL,             0};
  KilnArgument argument = {KILN_TENSOR, 0, {NULL}};
  KilnMachine* machine = NULL;
  KilnValue* result = NULL;
  KilnDlTensor scores;
  int32_t status;
  argument.as.tensor = &image;
  status = KilnMachineCreate(model, NULL, &machine);
  if (status == KILN_OK) {
    status = KilnMachineCall(machine, "main", &argument, 1, &result);
  }
  if (status == KILN_OK) status = KilnValueTensor(result, &scores);
  if (status == KILN_OK) PrintClass(&scores);
  KilnValueRelease(result);
  KilnMachineDestroy(machine);
  return status;
}

int main(int argc, char** argv) {
  /* Kernels like multiples of 64 bytes; elsewhere they may get a copy. */
  static _Alignas(64) float pixels[kPixels];
  KilnModel* model = NULL;
  int32_t status;
  if (argc != 3 || !ReadImage(argv[2], pixels)) {
    fprintf(stderr, "classify model.so image.npy\n");
    return 1;
  }
  status = KilnModelOpen(argv[1], &model);
  if (status == KILN_OK) status = Classify(model, pixels);
  if (status != KILN_OK) fprintf(stderr, "classify: %s\n", KilnErrorText());
  KilnModelClose(model);
  return status == KILN_OK ? 0 : 1;
}
