// ONNX Runtime as one side of compare_compute.py, as bench_model.cpp is another: prints a line when the model is ready,
// then for each line on stdin, a number n, runs n batches and prints the nanoseconds that they took. One thread.
// usage: node onnx_side.cjs MODEL.onnx BATCH CHANNELS HEIGHT WIDTH; finds onnxruntime-node as require does (NODE_PATH).
const ort = require('onnxruntime-node');
const readline = require('readline');

async function main() {
  const [file, ...shape] = process.argv.slice(2);
  const session = await ort.InferenceSession.create(file, {
    intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential', graphOptimizationLevel: 'all'});
  const dimensions = shape.map(Number);
  const data = new Float32Array(dimensions.reduce((product, size) => product * size, 1));
  for (let i = 0; i < data.length; ++i) data[i] = Math.sin(i);
  const feeds = {[session.inputNames[0]]: new ort.Tensor('float32', data, dimensions)};
  console.log('ready');
  for await (const line of readline.createInterface({input: process.stdin})) {
    const begin = process.hrtime.bigint();
    for (let i = 0; i < Number(line); ++i) await session.run(feeds);
    console.log(String(process.hrtime.bigint() - begin));
  }
}

main().catch(error => {
  console.error(`onnx_side: ${error.message}`);
  process.exit(1);
});
