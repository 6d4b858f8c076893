const HEIGHT_WANTED = 260;
const PITCH_MIN = 4;
const PITCH_MAX = 12;

export interface GridLayout {
  readonly columns: number;
  /** Distance from one cell to the next, in pixels. */
  readonly pitch: number;
  readonly size: number;
  readonly height: number;
}

/**
 * Computes the grid with the largest cells that fit into the preferred height. The distance of the
 * cells is between `PITCH_MIN` and `PITCH_MAX`.
 */
export const gridOf = (count: number, width: number): GridLayout => {
  const fitting = Math.floor(Math.sqrt((width * HEIGHT_WANTED) / Math.max(1, count)));
  const pitch = Math.min(PITCH_MAX, Math.max(PITCH_MIN, fitting));
  const columns = Math.max(1, Math.floor(width / pitch));
  return {
    columns,
    pitch,
    size: pitch - (pitch > PITCH_MIN ? 2 : 1),
    height: Math.ceil(count / columns) * pitch,
  };
};

/** Index of the cell at a point; null when there is no cell. */
export const positionAt = (
  { columns, pitch }: GridLayout,
  count: number,
  x: number,
  y: number,
): number | null => {
  const column = Math.floor(x / pitch);
  const position = Math.floor(y / pitch) * columns + column;
  return x < 0 || y < 0 || column >= columns || position >= count ? null : position;
};
