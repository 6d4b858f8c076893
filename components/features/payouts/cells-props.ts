import type { PayoutRow } from "./rows-file";

/** The props of both ways of drawing the cells. */
export interface CellsProps {
  readonly rows: readonly PayoutRow[];
  readonly batch: number | null;
  readonly onHover: (position: number | null) => void;
  readonly onChoose: (index: number) => void;
}
