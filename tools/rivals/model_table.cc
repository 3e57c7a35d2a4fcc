// A line "model NAME", then a line for each distinct layer of it: the layer as
// a named workload (ir/te/workloads.h), how often it occurs, and where. All for
// one image, or for the tokens that the name of the model tells, in float32.
// Batch norms are part of the convolutions before them, and so is what a layer
// adds or cuts off (bias, ReLU).
//
// From the published architectures:
//   resnet50         He et al. 2015, arXiv:1512.03385, table 1; strides stand
//   in
//                    the 3 x 3 convolutions
//   mobilenet-v2     Sandler et al. 2018, arXiv:1801.04381, table 2
//   mobilenet-v3     Howard et al. 2019, arXiv:1905.02244, table 1 (large)
//   efficientnet-b0  Tan and Le 2019, arXiv:1905.11946, table 1
//   vgg16            Simonyan and Zisserman 2014, arXiv:1409.1556, table 1, D
//   bert-base        Devlin et al. 2018, arXiv:1810.04805; 128 tokens
//   vit-b16          Dosovitskiy et al. 2020, arXiv:2010.11929, table 1
//   gpt2             Radford et al. 2019, 12 layers: 128 tokens, and one token
//                    with the keys and values of 128
//   whisper-tiny     Radford et al. 2022, arXiv:2212.04356; the encoder of 30 s
//   unet             Ronneberger et al. 2015, arXiv:1505.04597, figure 1, with
//                    padding, for 256 x 256
//   dlrm             Naumov et al. 2019, arXiv:1906.00091; 26 tables of 64,
//                    layers 512-256-64 and 512-256, batch 128
//   tinyllama        Zhang et al. 2024, arXiv:2401.02385; one token after 128
#include "kiln/tools/rivals/models.h"

namespace kiln::bench {

const char kModelTable[] = R"(
model resnet50
c2d:224,224,3,64,7,2,3 1 conv1
max:112,112,64,3,2,1 1 pool1
c2d:56,56,64,64,1,1,0 1 conv2
c2d:56,56,64,64,3,1,1 3 conv2
c2d:56,56,64,256,1,1,0 4 conv2
add:3136,256 3 conv2
c2d:56,56,256,64,1,1,0 2 conv2
c2d:56,56,256,128,1,1,0 1 conv3
c2d:56,56,128,128,3,2,1 1 conv3
c2d:28,28,128,512,1,1,0 4 conv3
c2d:56,56,256,512,1,2,0 1 conv3 shortcut
add:784,512 4 conv3
c2d:28,28,512,128,1,1,0 3 conv3
c2d:28,28,128,128,3,1,1 3 conv3
c2d:28,28,512,256,1,1,0 1 conv4
c2d:28,28,256,256,3,2,1 1 conv4
c2d:14,14,256,1024,1,1,0 6 conv4
c2d:28,28,512,1024,1,2,0 1 conv4 shortcut
add:196,1024 6 conv4
c2d:14,14,1024,256,1,1,0 5 conv4
c2d:14,14,256,256,3,1,1 5 conv4
c2d:14,14,1024,512,1,1,0 1 conv5
c2d:14,14,512,512,3,2,1 1 conv5
c2d:7,7,512,2048,1,1,0 3 conv5
c2d:14,14,1024,2048,1,2,0 1 conv5 shortcut
add:49,2048 3 conv5
c2d:7,7,2048,512,1,1,0 2 conv5
c2d:7,7,512,512,3,1,1 2 conv5
avg:7,7,2048,7,1,0 1 pool5
den:1,1000,2048 1 fc1000
sfm:1,1000 1 fc1000
model mobilenet-v2
c2d:224,224,3,32,3,2,1 1 first
dep:112,112,32,3,1,1 1 bottleneck 16
c2d:112,112,32,16,1,1,0 1 bottleneck 16
c2d:112,112,16,96,1,1,0 1 bottleneck 24
dep:112,112,96,3,2,1 1 bottleneck 24
c2d:56,56,96,24,1,1,0 1 bottleneck 24
c2d:56,56,24,144,1,1,0 2 bottleneck 24
dep:56,56,144,3,1,1 1 bottleneck 24
c2d:56,56,144,24,1,1,0 1 bottleneck 24
dep:56,56,144,3,2,1 1 bottleneck 32
c2d:28,28,144,32,1,1,0 1 bottleneck 32
c2d:28,28,32,192,1,1,0 3 bottleneck 32
dep:28,28,192,3,1,1 2 bottleneck 32
c2d:28,28,192,32,1,1,0 2 bottleneck 32
dep:28,28,192,3,2,1 1 bottleneck 64
c2d:14,14,192,64,1,1,0 1 bottleneck 64
c2d:14,14,64,384,1,1,0 4 bottleneck 64
dep:14,14,384,3,1,1 4 bottleneck 64
c2d:14,14,384,64,1,1,0 3 bottleneck 64
c2d:14,14,384,96,1,1,0 1 bottleneck 96
c2d:14,14,96,576,1,1,0 3 bottleneck 96
dep:14,14,576,3,1,1 2 bottleneck 96
c2d:14,14,576,96,1,1,0 2 bottleneck 96
dep:14,14,576,3,2,1 1 bottleneck 160
c2d:7,7,576,160,1,1,0 1 bottleneck 160
c2d:7,7,160,960,1,1,0 3 bottleneck 160
dep:7,7,960,3,1,1 3 bottleneck 160
c2d:7,7,960,160,1,1,0 2 bottleneck 160
c2d:7,7,960,320,1,1,0 1 bottleneck 320
c2d:7,7,320,1280,1,1,0 1 last
avg:7,7,1280,7,1,0 1 pool
den:1,1000,1280 1 classifier
model mobilenet-v3
c2d:224,224,3,16,3,2,1 1 first
hsw:12544,16 1 first
dep:112,112,16,3,1,1 1 bneck 16
c2d:112,112,16,16,1,1,0 1 bneck 16
c2d:112,112,16,64,1,1,0 1 bneck 64
dep:112,112,64,3,2,1 1 bneck 64
c2d:56,56,64,24,1,1,0 1 bneck 64
c2d:56,56,24,72,1,1,0 2 bneck 72
dep:56,56,72,3,1,1 1 bneck 72
c2d:56,56,72,24,1,1,0 1 bneck 72
dep:56,56,72,5,2,2 1 bneck 72
avg:28,28,72,28,1,0 1 bneck 72 squeeze
den:1,24,72 1 bneck 72 squeeze
den:1,72,24 1 bneck 72 squeeze
scl:784,72 1 bneck 72 squeeze
c2d:28,28,72,40,1,1,0 1 bneck 72
c2d:28,28,40,120,1,1,0 2 bneck 120
dep:28,28,120,5,1,2 2 bneck 120
avg:28,28,120,28,1,0 2 bneck 120 squeeze
den:1,32,120 2 bneck 120 squeeze
den:1,120,32 2 bneck 120 squeeze
scl:784,120 2 bneck 120 squeeze
c2d:28,28,120,40,1,1,0 2 bneck 120
c2d:28,28,40,240,1,1,0 1 bneck 240
hsw:784,240 1 bneck 240
dep:28,28,240,3,2,1 1 bneck 240
hsw:196,240 1 bneck 240
c2d:14,14,240,80,1,1,0 1 bneck 240
c2d:14,14,80,200,1,1,0 1 bneck 200
hsw:196,200 2 bneck 200
dep:14,14,200,3,1,1 1 bneck 200
c2d:14,14,200,80,1,1,0 1 bneck 200
c2d:14,14,80,184,1,1,0 2 bneck 184
hsw:196,184 4 bneck 184
dep:14,14,184,3,1,1 2 bneck 184
c2d:14,14,184,80,1,1,0 2 bneck 184
c2d:14,14,80,480,1,1,0 1 bneck 480
hsw:196,480 2 bneck 480
dep:14,14,480,3,1,1 1 bneck 480
avg:14,14,480,14,1,0 1 bneck 480 squeeze
den:1,120,480 1 bneck 480 squeeze
den:1,480,120 1 bneck 480 squeeze
scl:196,480 1 bneck 480 squeeze
c2d:14,14,480,112,1,1,0 1 bneck 480
c2d:14,14,112,672,1,1,0 2 bneck 672
hsw:196,672 3 bneck 672
dep:14,14,672,3,1,1 1 bneck 672
avg:14,14,672,14,1,0 1 bneck 672 squeeze
den:1,168,672 2 bneck 672 squeeze
den:1,672,168 2 bneck 672 squeeze
scl:196,672 1 bneck 672 squeeze
c2d:14,14,672,112,1,1,0 1 bneck 672
dep:14,14,672,5,2,2 1 bneck 672
avg:7,7,672,7,1,0 1 bneck 672 squeeze
scl:49,672 1 bneck 672 squeeze
hsw:49,672 1 bneck 672
c2d:7,7,672,160,1,1,0 1 bneck 672
c2d:7,7,160,960,1,1,0 3 bneck 960
hsw:49,960 5 bneck 960
dep:7,7,960,5,1,2 2 bneck 960
avg:7,7,960,7,1,0 3 bneck 960 squeeze
den:1,240,960 2 bneck 960 squeeze
den:1,960,240 2 bneck 960 squeeze
scl:49,960 2 bneck 960 squeeze
c2d:7,7,960,160,1,1,0 2 bneck 960
den:1,1280,960 1 classifier
den:1,1000,1280 1 classifier
model efficientnet-b0
c2d:224,224,3,32,3,2,1 1 stem
swi:12544,32 2 stem
dep:112,112,32,3,1,1 1 MBConv 16
avg:112,112,32,112,1,0 1 MBConv 16 squeeze
den:1,8,32 1 MBConv 16 squeeze
den:1,32,8 1 MBConv 16 squeeze
scl:12544,32 1 MBConv 16 squeeze
c2d:112,112,32,16,1,1,0 1 MBConv 16
c2d:112,112,16,96,1,1,0 1 MBConv 24
swi:12544,96 1 MBConv 24
dep:112,112,96,3,2,1 1 MBConv 24
swi:3136,96 1 MBConv 24
avg:56,56,96,56,1,0 1 MBConv 24 squeeze
den:1,4,96 1 MBConv 24 squeeze
den:1,96,4 1 MBConv 24 squeeze
scl:3136,96 1 MBConv 24 squeeze
c2d:56,56,96,24,1,1,0 1 MBConv 24
c2d:56,56,24,144,1,1,0 2 MBConv 24
swi:3136,144 3 MBConv 24
dep:56,56,144,3,1,1 1 MBConv 24
avg:56,56,144,56,1,0 1 MBConv 24 squeeze
den:1,6,144 2 MBConv 24 squeeze
den:1,144,6 2 MBConv 24 squeeze
scl:3136,144 1 MBConv 24 squeeze
c2d:56,56,144,24,1,1,0 1 MBConv 24
dep:56,56,144,5,2,2 1 MBConv 40
swi:784,144 1 MBConv 40
avg:28,28,144,28,1,0 1 MBConv 40 squeeze
scl:784,144 1 MBConv 40 squeeze
c2d:28,28,144,40,1,1,0 1 MBConv 40
c2d:28,28,40,240,1,1,0 2 MBConv 40
swi:784,240 3 MBConv 40
dep:28,28,240,5,1,2 1 MBConv 40
avg:28,28,240,28,1,0 1 MBConv 40 squeeze
den:1,10,240 2 MBConv 40 squeeze
den:1,240,10 2 MBConv 40 squeeze
scl:784,240 1 MBConv 40 squeeze
c2d:28,28,240,40,1,1,0 1 MBConv 40
dep:28,28,240,3,2,1 1 MBConv 80
swi:196,240 1 MBConv 80
avg:14,14,240,14,1,0 1 MBConv 80 squeeze
scl:196,240 1 MBConv 80 squeeze
c2d:14,14,240,80,1,1,0 1 MBConv 80
c2d:14,14,80,480,1,1,0 3 MBConv 80
swi:196,480 6 MBConv 80
dep:14,14,480,3,1,1 2 MBConv 80
avg:14,14,480,14,1,0 3 MBConv 80 squeeze
den:1,20,480 3 MBConv 80 squeeze
den:1,480,20 3 MBConv 80 squeeze
scl:196,480 3 MBConv 80 squeeze
c2d:14,14,480,80,1,1,0 2 MBConv 80
dep:14,14,480,5,1,2 1 MBConv 112
c2d:14,14,480,112,1,1,0 1 MBConv 112
c2d:14,14,112,672,1,1,0 3 MBConv 112
swi:196,672 5 MBConv 112
dep:14,14,672,5,1,2 2 MBConv 112
avg:14,14,672,14,1,0 2 MBConv 112 squeeze
den:1,28,672 3 MBConv 112 squeeze
den:1,672,28 3 MBConv 112 squeeze
scl:196,672 2 MBConv 112 squeeze
c2d:14,14,672,112,1,1,0 2 MBConv 112
dep:14,14,672,5,2,2 1 MBConv 192
swi:49,672 1 MBConv 192
avg:7,7,672,7,1,0 1 MBConv 192 squeeze
scl:49,672 1 MBConv 192 squeeze
c2d:7,7,672,192,1,1,0 1 MBConv 192
c2d:7,7,192,1152,1,1,0 4 MBConv 192
swi:49,1152 8 MBConv 192
dep:7,7,1152,5,1,2 3 MBConv 192
avg:7,7,1152,7,1,0 4 MBConv 192 squeeze
den:1,48,1152 4 MBConv 192 squeeze
den:1,1152,48 4 MBConv 192 squeeze
scl:49,1152 4 MBConv 192 squeeze
c2d:7,7,1152,192,1,1,0 3 MBConv 192
dep:7,7,1152,3,1,1 1 MBConv 320
c2d:7,7,1152,320,1,1,0 1 MBConv 320
c2d:7,7,320,1280,1,1,0 1 head
swi:49,1280 1 head
avg:7,7,1280,7,1,0 1 pool
den:1,1000,1280 1 classifier
model vgg16
c2d:224,224,3,64,3,1,1 1 conv3-64
c2d:224,224,64,64,3,1,1 1 conv3-64
max:224,224,64,2,2,0 1 maxpool
c2d:112,112,64,128,3,1,1 1 conv3-128
c2d:112,112,128,128,3,1,1 1 conv3-128
max:112,112,128,2,2,0 1 maxpool
c2d:56,56,128,256,3,1,1 1 conv3-256
c2d:56,56,256,256,3,1,1 2 conv3-256
max:56,56,256,2,2,0 1 maxpool
c2d:28,28,256,512,3,1,1 1 conv3-512
c2d:28,28,512,512,3,1,1 2 conv3-512
max:28,28,512,2,2,0 1 maxpool
c2d:14,14,512,512,3,1,1 3 conv3-512
max:14,14,512,2,2,0 1 maxpool
den:1,4096,25088 1 FC-4096
den:1,4096,4096 1 FC-4096
den:1,1000,4096 1 FC-1000
sfm:1,1000 1 soft-max
model bert-base
den:128,768,768 48 attention
tbg:128,12,64 12 attention
sfm:1536,128 12 attention
gmm:12,128,64,128 12 attention
den:128,3072,768 12 feed-forward
gel:128,3072 12 feed-forward
den:128,768,3072 12 feed-forward
lnm:128,768 25 norm
model vit-b16
c2d:224,224,3,768,16,16,0 1 patches
den:197,768,768 48 attention
tbg:197,12,64 12 attention
sfm:2364,197 12 attention
gmm:12,197,64,197 12 attention
den:197,3072,768 12 feed-forward
gel:197,3072 12 feed-forward
den:197,768,3072 12 feed-forward
lnm:197,768 25 norm
den:1,1000,768 1 head
model gpt2-prompt
den:128,2304,768 12 attention
tbg:128,12,64 12 attention
gmm:12,128,64,128 12 attention
sfm:1536,128 12 attention
den:128,768,768 12 attention
den:128,3072,768 12 feed-forward
gel:128,3072 12 feed-forward
den:128,768,3072 12 feed-forward
lnm:128,768 25 norm
den:1,50257,768 1 logits of the last token
model gpt2-token
den:1,2304,768 12 attention
gmm:12,1,128,64 12 attention, keys by column
sfm:12,128 12 attention
gmm:12,1,64,128 12 attention
den:1,768,768 12 attention
den:1,3072,768 12 feed-forward
gel:1,3072 12 feed-forward
den:1,768,3072 12 feed-forward
lnm:1,768 25 norm
den:1,50257,768 1 logits of the last token
model whisper-tiny
c1d:3000,80,384,3,1,1 1 encoder
gel:3000,384 1 encoder
c1d:3000,384,384,3,2,1 1 encoder
gel:1500,384 1 encoder
den:1500,384,384 16 attention
tbg:1500,6,64 4 attention
sfm:9000,1500 4 attention
gmm:6,1500,64,1500 4 attention
den:1500,1536,384 4 feed-forward
gel:1500,1536 4 feed-forward
den:1500,384,1536 4 feed-forward
lnm:1500,384 9 norm
model unet
c2d:256,256,3,64,3,1,1 1 down 64
c2d:256,256,64,64,3,1,1 2 down 64
max:256,256,64,2,2,0 1 down 64
c2d:128,128,64,128,3,1,1 1 down 128
c2d:128,128,128,128,3,1,1 2 down 128
max:128,128,128,2,2,0 1 down 128
c2d:64,64,128,256,3,1,1 1 down 256
c2d:64,64,256,256,3,1,1 2 down 256
max:64,64,256,2,2,0 1 down 256
c2d:32,32,256,512,3,1,1 1 down 512
c2d:32,32,512,512,3,1,1 2 down 512
max:32,32,512,2,2,0 1 down 512
c2d:16,16,512,1024,3,1,1 1 bottom
c2d:16,16,1024,1024,3,1,1 1 bottom
t2d:16,16,1024,512,2,2,0 1 up 512
c2d:32,32,1024,512,3,1,1 1 up 512
t2d:32,32,512,256,2,2,0 1 up 256
c2d:64,64,512,256,3,1,1 1 up 256
t2d:64,64,256,128,2,2,0 1 up 128
c2d:128,128,256,128,3,1,1 1 up 128
t2d:128,128,128,64,2,2,0 1 up 64
c2d:256,256,128,64,3,1,1 1 up 64
c2d:256,256,64,2,1,1,0 1 classes
model dlrm
den:128,512,13 1 bottom MLP
den:128,256,512 2 bottom MLP
den:128,64,256 1 bottom MLP
gmm:128,27,27,64 1 interaction
den:128,512,415 1 top MLP
model tinyllama-token
rms:1,2048 45 norm
den:1,2048,2048 44 attention
den:1,256,2048 44 attention, keys and values
gmm:32,1,128,64 22 attention
sfm:32,128 22 attention
gmm:32,1,64,128 22 attention
den:1,5632,2048 44 feed-forward
swi:1,5632 22 feed-forward
den:1,2048,5632 22 feed-forward
den:1,32000,2048 1 logits
)";

}  // namespace kiln::bench
