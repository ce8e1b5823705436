import * as fs from "node:fs";
{
  process.chdir(new URL(".", import.meta.url).pathname);
  const VIEWS = {
    ...{ float32: Float32Array, float64: Float64Array, int32: Int32Array, int64: BigInt64Array },
    ...{ int8: Int8Array, uint8: Uint8Array, bool: Uint8Array },
  };
  const read = (file) => Object.entries(JSON.parse(fs.readFileSync(file, "utf8")));
  const inputs = {};
  for (const [name, [type, data, dims]] of read("inputs.json")) {
    const cells = type === "int64" ? data.map(BigInt) : data;
    inputs[name] = { type, dims, data: VIEWS[type].from(cells) };
  }
  const { outputs } = await run("model.onnx", inputs);
  for (const [name, [, right, dims]] of read("expected.json")) {
    const got = Array.from(outputs[name].data, Number);
    const near = right.every((x, i) => Math.abs(got[i] - x) <= 1e-3 * (1 + Math.abs(x)));
    if (String(outputs[name].dims) !== String(dims) || !near) {
      console.error(`${name} is [${outputs[name].dims}] ${got}\nand should be [${dims}] ${right}`);
      process.exit(1);
    }
  }
  console.log("as it should be");
  process.exit(0);
}
