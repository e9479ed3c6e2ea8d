// Where the latency of every split goes, as stacked bars.

const WAITING = 'waiting';

// The bars of each part of the latency: compute and transfer have one for each stage. Hovering shows all parts
// separately.
const PARTS = {
  compute: stage => `compute on stage ${stage}`,
  transfer: stage => stage === 0 ? 'transfer back' : `transfer to stage ${stage}`,
  queue: () => WAITING,
  send_queue: () => WAITING,
  encode: () => 'encode and decode',
  decode: () => 'encode and decode',
};
// Marks the bars of a second round through the colours.
const STRIPES = {symbol: 'rect', rotation: Math.PI / 4, dashArrayX: [1, 0], dashArrayY: [2, 4]};
const PART_ORDER = ['compute', 'transfer', 'queue', 'encode'];
const PART_NAMES = {
  compute: 'compute', transfer: 'transfer', queue: 'wait for compute', send_queue: 'wait for send', encode: 'encode',
  decode: 'decode',
};

function stacks(splits) {
  const names = new Map();
  for (const part of PART_ORDER) {
    for (const split of splits) {
      for (const entry of split.breakdown) {
        if (entry.part === part) names.set(PARTS[part](entry.stage), part);
      }
    }
  }
  return [...names.keys()];
}

function stackValue(split, name) {
  const parts = split.breakdown.filter(({part, stage}) => PARTS[part](stage) === name);
  return parts.length === 0 ? null : parts.reduce((sum, {ns}) => sum + ns, 0);
}

function hoveredBreakdown(split, colourOf) {
  const total = split.breakdown.reduce((sum, {ns}) => sum + ns, 0);
  const rows = split.breakdown.map(({part, stage, ns, clock_error_ns: error}) => {
    const what = report.predicted && part === 'encode' ? 'encode and decode' : PART_NAMES[part];
    const name = part === 'transfer' ? PARTS.transfer(stage) : `${what}, stage ${stage}`;
    const uncertain = error === undefined ? '' : ` ± ${formatValue(error, 'ns')}, two clocks`;
    return [name, `${formatValue(ns, 'ns')}${uncertain} (${formatShare(ns / total)})`, colourOf.get(PARTS[part](stage))];
  });
  return hoverCard(`Split ${split.label}: ${formatValue(total, 'ns')}`, rows);
}

// The splits whose `part` is there to be drawn. If there are none, the chart's section is hidden.
function splitsWith(part, chart) {
  const splits = detailGroup().splits.filter(split => split[part].length > 0);
  byId(chart).closest('section').hidden = splits.length === 0;
  if (splits.length > 0) chartIn(chart).resize();  // the window may have changed while it was hidden
  return splits;
}

function drawBreakdown() {
  const splits = splitsWith('breakdown', 'breakdown-chart');
  if (splits.length === 0) return;
  const names = stacks(splits);
  const {series: colours, page, muted} = theme();
  const ownColours = names.filter(name => name !== WAITING);
  const colourOf = new Map(ownColours.map((name, index) => [name, colours[index % colours.length]])).set(WAITING, muted);
  const totals = splits.map(split => split.breakdown.reduce((sum, {ns}) => sum + ns, 0));
  draw('breakdown-chart', `Stacked bars of the parts of the latency of ${splits.length} splits.`, {
    legend: legend(names),
    tooltip: {trigger: 'axis', axisPointer: {type: 'shadow'}, formatter: marks => hoveredBreakdown(splits[marks[0].dataIndex], colourOf)},
    xAxis: splitAxis(splits),
    yAxis: valueAxis('mean latency', [0, ...totals], 'ns', {nameGap: 48}),
    series: names.map(name => ({
      name, type: 'bar', stack: 'latency', barCategoryGap: splits.length > 60 ? '0%' : '25%', barMaxWidth: 48,
      itemStyle: {color: colourOf.get(name), ...(ownColours.indexOf(name) < colours.length ? {} : {decal: STRIPES}), borderColor: page, borderWidth: splits.length > 60 ? 0 : 0.5},
      data: splits.map(split => stackValue(split, name)),
    })),
    ...zoomFor(splits),
  });
}

// How many bytes cross the cut at every depth of the network, before any codec.

function drawActivations() {
  const {activations, model, batch} = detailGroup();
  const {series: [colour]} = theme();
  draw('activation-chart', `Line of the bytes of activations at ${activations.length} split points of ${model}.`, {
    tooltip: {
      trigger: 'axis',
      formatter: ([mark]) => hoverCard(`Split point ${mark.value[0]}`, [
        ['activations of a batch', formatValue(mark.value[1], 'B')], ['activations of an image', formatValue(mark.value[1] / batch, 'B')],
      ]),
    },
    grid: {top: 16},
    xAxis: axis('split point: blocks before the cut', {type: 'value', minInterval: 1, scale: true, splitLine: {show: false}}),
    yAxis: valueAxis('bytes of a batch', activations.map(([, bytes]) => bytes), 'B', {nameGap: 60}),
    series: [{
      type: 'line', data: activations, symbol: 'circle', symbolSize: 6, showSymbol: activations.length <= 60,
      itemStyle: {color: colour}, lineStyle: {color: colour}, areaStyle: {color: colour, opacity: 0.15},
    }],
  });
}

// The share of the time during which each stage computes.

function drawUtilisation() {
  const splits = splitsWith('utilisation', 'utilisation-chart');
  if (splits.length === 0) return;
  const {series: colours, symbols} = theme();
  const stages = Math.max(0, ...splits.map(split => split.utilisation.length));
  const names = Array.from({length: stages}, (_, stage) => `stage ${stage}`);
  const rows = split => split.utilisation.flatMap((share, stage) => [
    [`${names[stage]} computes`, formatShare(share), colours[stage % colours.length]],
    [`${names[stage]} is idle`, formatShare(1 - share)],
  ]);
  draw('utilisation-chart', `Lines of the utilisation of ${stages} stages at ${splits.length} splits.`, {
    legend: legend(names),
    tooltip: {trigger: 'axis', formatter: marks => hoverCard(`Split ${splits[marks[0].dataIndex].label}`, rows(splits[marks[0].dataIndex]))},
    xAxis: splitAxis(splits),
    yAxis: axis('utilisation', {type: 'value', min: 0, max: 1, nameGap: 44, axisLabel: {color: theme().muted, formatter: formatShare}}),
    series: names.map((name, stage) => ({
      name, type: 'line', symbol: symbols[stage % symbols.length], symbolSize: 7, showSymbol: splits.length <= 60,
      itemStyle: {color: colours[stage % colours.length]},
      data: splits.map(split => split.utilisation[stage] ?? null),
    })),
    ...zoomFor(splits),
  });
}
