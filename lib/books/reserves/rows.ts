import { base, int8, type RowOf, table, text } from "@/lib/platform/db/table";

/** Table `reserve_reading`: a balance of a treasury at a final block. */
export const reserveReadings = table({
  /** Lower-case address, or `native`. */
  token: text,
  balanceBase: base,
  blockNumber: int8,
});

export type ReserveReading = RowOf<typeof reserveReadings>;
