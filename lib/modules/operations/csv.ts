import type { z } from "zod";
import type { operationRecord } from "@/lib/contracts/operation-records";
import { csvLine, type CsvCell } from "@/lib/core/csv";

type OperationRecord = z.output<typeof operationRecord>;
type LegRecord = OperationRecord["legs"][number];

/** Memo and tags of an operation. */
export interface CsvAnnotation {
  readonly memo: string;
  readonly tags: readonly string[];
}

interface Row {
  readonly operation: OperationRecord;
  readonly annotation: CsvAnnotation | null;
  readonly source: OperationRecord["quoted"]["from"][number] | null;
  /** Null for an operation that awaits approval, which has no legs yet. */
  readonly leg: LegRecord | null;
}

type Column = readonly [name: string, cell: (row: Row) => CsvCell];

const COLUMNS: readonly Column[] = [
  ["operation_id", ({ operation }) => operation.operationId],
  ["kind", ({ operation }) => operation.kind],
  ["status", ({ operation }) => operation.status],
  ["sub_status", ({ operation }) => operation.subStatus],
  ["created_at", ({ operation }) => operation.createdAt],
  ["updated_at", ({ operation }) => operation.updatedAt],
  ["created_by", ({ operation }) => operation.createdBy],
  ["leg_id", ({ leg }) => leg?.id ?? null],
  ["leg_status", ({ leg }) => leg?.status ?? null],
  ["from_address", ({ source, leg }) => leg?.walletAddress ?? source?.address ?? null],
  ["from_chain_id", ({ source, leg }) => leg?.chainId ?? source?.chainId ?? null],
  ["from_token", ({ source, leg }) => leg?.sent.token.symbol ?? source?.token.symbol ?? null],
  ["sent", ({ source, leg }) => leg?.sent.amount ?? source?.amount ?? null],
  ["spent", ({ leg }) => leg?.spent?.amount ?? null],
  ["to_address", ({ operation }) => operation.quoted.to.address],
  ["to_chain_id", ({ operation }) => operation.quoted.to.chainId],
  ["to_token", ({ operation }) => operation.quoted.to.token.symbol],
  ["minimum", ({ operation, leg }) => leg?.minimum.amount ?? operation.quoted.to.minAmount],
  ["received", ({ leg, operation }) => leg?.received?.amount ?? operation.deposit?.received.amount ?? null],
  ["source_tx_hash", ({ leg }) => leg?.txHash ?? null],
  ["destination_tx_hash", ({ leg, operation }) => leg?.destination?.txHash ?? operation.deposit?.txHash ?? null],
  ["refund_tx_hash", ({ leg }) => leg?.refund?.txHash ?? null],
  ["failure_code", ({ leg }) => leg?.failure?.code ?? null],
  ["failure", ({ leg }) => leg?.failure?.message ?? null],
  ["memo", ({ annotation }) => annotation?.memo ?? null],
  ["tags", ({ annotation }) => annotation?.tags.join(", ") ?? null],
];

export const csvHeader = (): string => csvLine(COLUMNS.map(([name]) => name));

/** A line per leg. */
export const csvLines = (operation: OperationRecord, annotation: CsvAnnotation | null): string => {
  const legs: readonly (LegRecord | null)[] = operation.legs.length > 0 ? operation.legs : [null];
  const source = operation.quoted.from[0] ?? null;
  return legs.map((leg) => csvLine(COLUMNS.map(([, cell]) => cell({ operation, annotation, source, leg })))).join("");
};
