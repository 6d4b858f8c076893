"use client";

import { useTheme } from "next-themes";
import { useEffect, useRef, useState, type MouseEvent, type ReactNode } from "react";
import type { CellsProps } from "./cells-props";
import { gridOf, positionAt } from "./grid-layout";
import { ROW_VIEWS, type RowStateView } from "./row-views";

const DIMMED = 0.25;

const useWidth = (): readonly [React.RefObject<HTMLCanvasElement | null>, number] => {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const parent = canvas.current?.parentElement;
    if (parent == null) return;
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    observer.observe(parent);
    return () => observer.disconnect();
  }, []);
  return [canvas, width];
};

/** Draws every cell in the colours that the page has now. */
const draw = (element: HTMLCanvasElement, width: number, { rows, batch }: Pick<CellsProps, "rows" | "batch">): void => {
  const context = element.getContext("2d");
  if (context === null) return;
  const scale = window.devicePixelRatio;
  const { columns, pitch, size, height } = gridOf(rows.length, width);
  element.width = width * scale;
  element.height = height * scale;
  context.scale(scale, scale);
  const style = getComputedStyle(element);
  const paint = (color: string): string => style.getPropertyValue(color.slice(4, -1)).trim();
  const paints = new Map(
    Object.entries<RowStateView>(ROW_VIEWS).map(([state, { color, edge }]) => [
      state,
      { fill: paint(color), edge: edge === undefined ? null : paint(edge) },
    ]),
  );
  rows.forEach((row, at) => {
    context.globalAlpha = batch !== null && row.batch !== batch ? DIMMED : 1;
    const { fill, edge } = paints.get(row.state) ?? { fill: "", edge: null };
    const [x, y] = [(at % columns) * pitch, Math.floor(at / columns) * pitch];
    context.fillStyle = fill;
    context.fillRect(x, y, size, size);
    if (edge === null) return;
    context.strokeStyle = edge;
    context.strokeRect(x + 0.5, y + 0.5, size - 1, size - 1);
  });
};

/** The cells of thousands of rows, drawn at once. */
export const CellCanvas = ({ rows, batch, onHover, onChoose }: CellsProps): ReactNode => {
  const [canvas, width] = useWidth();
  const { resolvedTheme } = useTheme();
  const grid = gridOf(rows.length, width);
  useEffect(() => {
    // In the next frame, because the colours of a theme are set on the page after the effects of what is in it.
    const frame = requestAnimationFrame(() => {
      if (canvas.current !== null && width > 0) draw(canvas.current, width, { rows, batch });
    });
    return () => cancelAnimationFrame(frame);
  }, [canvas, rows, batch, width, resolvedTheme]);
  const at = ({ nativeEvent: { offsetX, offsetY } }: MouseEvent): number | null =>
    positionAt(grid, rows.length, offsetX, offsetY);
  return (
    <canvas
      ref={canvas}
      aria-hidden
      className="block w-full"
      style={{ height: grid.height }}
      onMouseMove={(event) => onHover(at(event))}
      onClick={(event) => {
        const row = rows[at(event) ?? -1];
        if (row !== undefined) onChoose(row.index);
      }}
    />
  );
};
