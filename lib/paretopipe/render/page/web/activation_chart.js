// How many bytes cross the cut at every depth of the network.

function drawActivations() {
  const {activations, model, batch} = detailGroup();
  const {series: [colour]} = theme();
  draw('activation-chart', `Line of the bytes that cross at ${activations.length} split points of ${model}.`, {
    tooltip: {
      trigger: 'axis',
      formatter: ([mark]) => hoverCard(`Split point ${mark.value[0]}`, [
        ['payload of a batch', formatValue(mark.value[1], 'B')], ['payload of an image', formatValue(mark.value[1] / batch, 'B')],
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
