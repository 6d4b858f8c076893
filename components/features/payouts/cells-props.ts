import type { PayoutRow } from "./rows-file";

/** What both ways of drawing the cells take. */
export interface CellsProps {
  readonly rows: readonly PayoutRow[];
  readonly batch: number | null;
  readonly onHover: (position: number | null) => void;
  readonly onChoose: (index: number) => void;
}
