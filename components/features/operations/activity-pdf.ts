import type { Annotation } from "@/components/features/annotations/use-annotations";
import type { Names } from "@/components/features/names/use-names";
import { KIND_WORDS } from "@/components/features/overview/latest-activity";
import { shorten } from "@/components/ui/address";
import { STATUS_VIEWS } from "@/components/ui/status-badge";
import { tablePdf } from "@/lib/core/pdf";
import { sumByAsset } from "./asset-sums";
import type { OperationFilters } from "./filter-model";
import type { Operation } from "./types";

const TOKEN = { header: "Token", width: 6, isWhole: true } as const;
const COLUMNS = [
  { header: "Started (UTC)", width: 16 },
  { header: "What", width: 17 },
  { header: "Status", width: 16 },
  { header: "Sent", width: 26, align: "right" },
  TOKEN,
  { header: "Received", width: 26, align: "right" },
  TOKEN,
  { header: "To", width: 42 },
  { header: "Memo", width: 10 },
] as const;

/** Of a name in the column `To`, beside the shortened address. */
const NAME_MAX = 30;

const minuteText = (iso: string): string => iso.slice(0, 16).replace("T", " ");

/** A name does not say which address was paid, so a named address stands behind its name. */
const partyText = (address: string, name: string | undefined): string =>
  name === undefined ? address : `${name.slice(0, NAME_MAX)} ${shorten(address)}`;

/** A row for each asset that was sent; the first has everything else. */
const rowsOf = (
  operation: Operation,
  annotation: Annotation | undefined,
  ofAddress: Names["ofAddress"],
): readonly (readonly string[])[] => {
  const [first, ...others] = sumByAsset(operation.quoted.from);
  const { received } = operation.actual;
  const { address } = operation.quoted.to;
  return [
    [
      ...[minuteText(operation.createdAt), KIND_WORDS[operation.kind], STATUS_VIEWS[operation.status].word],
      ...[first?.amount ?? "", first?.symbol ?? "", received.amount, received.token.symbol],
      ...[partyText(address, ofAddress(address)), annotation?.memo ?? ""],
    ],
    ...others.map(({ amount, symbol }) => ["", "", "", amount, symbol]),
  ];
};

interface ActivityPdf {
  readonly operations: readonly Operation[];
  readonly annotations: ReadonlyMap<string, Annotation>;
  readonly ofAddress: Names["ofAddress"];
  readonly filters: Pick<OperationFilters, "from" | "to">;
  /** Whether more operations fit the filters than the file has. */
  readonly cut: boolean;
  readonly madeAt: Date;
}

/** The filtered list as a PDF file, newest first. `Received` is what the chains show so far. */
export const activityPdf = ({ operations, annotations, ofAddress, filters, cut, madeAt }: ActivityPdf): string =>
  tablePdf({
    title: "Activity",
    facts: [
      ["Days", `${filters.from ?? "the beginning"} to ${filters.to ?? "today"}`],
      ["Made at (UTC)", minuteText(madeAt.toISOString())],
      ["Operations", cut ? `the newest ${String(operations.length)} of more` : String(operations.length)],
    ],
    columns: COLUMNS,
    rows: operations.flatMap((operation) => rowsOf(operation, annotations.get(operation.operationId), ofAddress)),
  });
