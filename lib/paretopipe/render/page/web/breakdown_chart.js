// Where the latency of every split goes, as stacked bars.

// The bars of each part of the latency: compute and transfer have one for each stage. Hovering shows all parts
// separately.
const PARTS = {
  compute: stage => `compute on stage ${stage}`,
  transfer: stage => stage === 0 ? 'transfer back' : `transfer to stage ${stage}`,
  queue: () => 'waiting',
  send_queue: () => 'waiting',
  encode: () => 'encode and decode',
  decode: () => 'encode and decode',
};
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
  const rows = split.breakdown.map(({part, stage, ns}) => {
    const name = part === 'transfer' ? PARTS.transfer(stage) : `${PART_NAMES[part]}, stage ${stage}`;
    return [name, `${formatValue(ns, 'ns')} (${formatShare(ns / total)})`, colourOf.get(PARTS[part](stage))];
  });
  return hoverCard(`Split ${split.label}: ${formatValue(total, 'ns')}`, rows);
}

function drawBreakdown() {
  const splits = detailGroup().splits.filter(split => split.breakdown.length > 0);
  const names = stacks(splits);
  const {series: colours, page} = theme();
  const colourOf = new Map(names.map((name, index) => [name, colours[index % colours.length]]));
  const totals = splits.map(split => split.breakdown.reduce((sum, {ns}) => sum + ns, 0));
  draw('breakdown-chart', `Stacked bars of the parts of the latency of ${splits.length} splits.`, {
    legend: legend(names),
    tooltip: {trigger: 'axis', axisPointer: {type: 'shadow'}, formatter: marks => hoveredBreakdown(splits[marks[0].dataIndex], colourOf)},
    xAxis: splitAxis(splits),
    yAxis: valueAxis('mean latency', [0, ...totals], 'ns', {nameGap: 48}),
    series: names.map(name => ({
      name, type: 'bar', stack: 'latency', barCategoryGap: splits.length > 60 ? '0%' : '25%', barMaxWidth: 48,
      itemStyle: {color: colourOf.get(name), borderColor: page, borderWidth: splits.length > 60 ? 0 : 0.5},
      data: splits.map(split => stackValue(split, name)),
    })),
    ...zoomFor(splits),
  });
}
