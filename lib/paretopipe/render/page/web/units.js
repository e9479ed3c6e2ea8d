// Writes numbers for people, as paretopipe's tables do. Units are those of the metrics: ns, B, B/s, image/s, bit/s, and
// "" for shares.

const SCALES = {
  'ns': {units: ['ns', 'µs', 'ms', 's'], steps: [1, 1e3, 1e6, 1e9]},
  'B': {units: ['B', 'KiB', 'MiB', 'GiB', 'TiB'], steps: [1, 2 ** 10, 2 ** 20, 2 ** 30, 2 ** 40]},
  'B/s': {units: ['B/s', 'KiB/s', 'MiB/s', 'GiB/s'], steps: [1, 2 ** 10, 2 ** 20, 2 ** 30]},
  'bit/s': {units: ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s'], steps: [1, 1e3, 1e6, 1e9]},
  'image/s': {units: ['image/s', 'k image/s', 'M image/s'], steps: [1, 1e3, 1e6]},
  '': {units: [''], steps: [1]},
};

function scaleFor(value, unit) {
  const {units, steps} = SCALES[unit];
  let i = 0;
  // A value that would be rounded to 1000 of a unit becomes 1.00 of the next.
  while (i + 1 < steps.length && Math.abs(value) >= steps[i + 1] * 0.9995) ++i;
  return {name: units[i], step: steps[i]};
}

function threeDigits(value) {
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size < 0.001) return value.toExponential(2);
  if (size >= 99.95) return value.toFixed(0);
  return value.toPrecision(3);
}

// "12.3 ms"
function formatValue(value, unit) {
  const {name, step} = scaleFor(value, unit);
  const whole = unit === 'B' && step === 1 && Number.isInteger(value);
  return `${whole ? value : threeDigits(value / step)} ${name}`.trim();
}

// The text of a mark on an axis, without needless digits and without a unit that is in the axis' name.
function formatMark(value, unit) {
  if (unit === 'image/s') return String(Number(value.toPrecision(3)));
  const {name, step} = scaleFor(value, unit);
  return `${Number((value / step).toPrecision(3))} ${name}`.trim();
}

function formatShare(share) {
  return `${Number((100 * share).toPrecision(3))} %`;
}

// A distance of 1, 2 or 5 between marks, in the unit that people will read, so that only a few marks fit into `most`.
function roundStep(most, unit) {
  const {step} = scaleFor(most, unit);
  const least = most / step / 5;
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find(factor => factor * power >= least) * power * step;
}
