/** A plot in a box: as wide as it is, and in the colours that the reader has now. */
import { type RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { isDark, onTheme } from "../theme";

export interface Drawing {
  options: Omit<uPlot.Options, "width">;
  data: uPlot.AlignedData;
}

/** Pixels of a character of a label, and of what is between the label and the plot. */
const [LETTER, GAP] = [7, 18];
/** Pixels between the middles of two labels of time at least: below the first there may be a day with a time. */
const BETWEEN_TIMES = 80;
/** Of a longer number's labels there is hardly one beside another. */
const MOST_LETTERS = 20;
const ACROSS: uPlot.Axis = {
  space: (plot, _, least, most) => {
    if (plot.scales["x"]?.time) return BETWEEN_TIMES;
    const letters = [least, most].map((one) => uPlot.fmtNum(Math.round(one)).length);
    return GAP + LETTER * Math.min(MOST_LETTERS, Math.max(4, ...letters));
  },
};
const UP: uPlot.Axis = { size: (_, values) => GAP / 2 + LETTER * Math.max(4, ...(values ?? []).map((one) => String(one).length)) };

/** The box to draw in. `make` is given how an axis looks; it is called again after each of the changes. */
export function useChart(make: (across: uPlot.Axis, up: uPlot.Axis) => Drawing | undefined, changes: readonly unknown[]): RefObject<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  const dark = useDark();
  useEffect(() => {
    const place = box.current;
    if (place === null) return undefined;
    const style = getComputedStyle(place);
    const axis: uPlot.Axis = { stroke: style.color, grid: { stroke: colourOf("--hair"), width: 1 }, ticks: { show: false }, font: `11px ${style.fontFamily}` };
    const drawing = make({ ...axis, ...ACROSS }, { ...axis, ...UP });
    if (drawing === undefined) return undefined;
    const { options, data } = drawing;
    const chart = new uPlot({ width: place.clientWidth, legend: { show: false }, ...options }, data, place);
    const sizes = new ResizeObserver(() => chart.setSize({ width: place.clientWidth, height: options.height }));
    sizes.observe(place);
    return () => {
      sizes.disconnect();
      chart.destroy();
    };
  }, [dark, ...changes]);
  return box;
}

/** A colour of the tokens as a canvas takes it, in the theme that the reader has now. */
export function colourOf(name: string): string {
  const probe = document.createElement("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

function useDark(): boolean {
  const [dark, change] = useState(isDark);
  useEffect(() => onTheme(() => change(isDark())), []);
  return dark;
}
