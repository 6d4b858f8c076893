import type { ReactNode } from "react";

const WIDTH = 100;
const HEIGHT = 40;
/** Space above the highest and below the lowest point. */
const MARGIN = 4;

/** Values as a line over its area, from the first to the last; it fills what is positioned around it and asks for no height of its own. The numbers stand beside it, so that it is hidden from screen readers. */
export const TotalLine = ({ values }: { readonly values: readonly number[] }): ReactNode => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * WIDTH;
    const y = span === 0 ? HEIGHT / 2 : MARGIN + (1 - (value - low) / span) * (HEIGHT - 2 * MARGIN);
    return `${x.toFixed(2)} ${y.toFixed(2)}`;
  });
  const line = `M${points.join("L")}`;
  return (
    <svg
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      preserveAspectRatio="none"
      className="absolute inset-0 size-full text-fg-2"
      aria-hidden
    >
      <path
        d={`${line}L${String(WIDTH)} ${String(HEIGHT)}L0 ${String(HEIGHT)}Z`}
        fill="currentColor"
        fillOpacity={0.08}
      />
      <path d={line} fill="none" stroke="currentColor" strokeWidth={1.5} vectorEffect="non-scaling-stroke" />
    </svg>
  );
};
