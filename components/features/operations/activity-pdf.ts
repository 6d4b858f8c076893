import type { Names } from "@/components/features/names/names";
import { shorten } from "@/components/ui/address";
import { STATUS_VIEWS } from "@/components/ui/badge";
import { parseDecimal, scaledTo } from "@/lib/core/decimal";
import { tablePdf } from "@/lib/core/pdf";
import { wordsOf, type ActivityRow } from "./activity-entry";
import { sumByAsset } from "./operation-sums";
import type { ActivityFilters } from "./filter-model";

const TOKEN = { header: "Token", width: 6, isWhole: true } as const;
const COLUMNS = [
  { header: "Started (UTC)", width: 16 },
  { header: "What", width: 17, isWhole: true },
  { header: "Status", width: 16 },
  { header: "Sent", width: 20, align: "right" },
  TOKEN,
  { header: "Received", width: 20, align: "right" },
  TOKEN,
  { header: "USD value", width: 10, align: "right" },
  { header: "To", width: 42 },
  { header: "Memo", width: 10 },
] as const;

/** The maximum length of a name in the column `To`, which also has the shortened address. */
const NAME_MAX = 30;

const minuteText = (iso: string): string => iso.slice(0, 16).replace("T", " ");

/** The name with the shortened address, because a name alone does not identify an address. */
const partyText = (address: string, name: string | undefined): string =>
  name === undefined ? address : `${name.slice(0, NAME_MAX)} ${shorten(address)}`;

const ID_HEAD = 8;
const accountText = ({
  accountId,
  name,
}: {
  readonly accountId: string;
  readonly name: string | null;
}): string =>
  name === null ? `Account ${shorten(accountId, ID_HEAD)}` : name.slice(0, NAME_MAX);

/** The kind, followed by the reference that its creator typed, if there is one. */
const whatText = (row: ActivityRow): string =>
  row.reference === null ? wordsOf(row) : `${wordsOf(row)}: ${row.reference}`;

/**
 * The receiver, or the sender of a deposit. Account money that returns to the reserves has no
 * counterparty, so its account is shown with `> reserves`.
 */
const toText = (
  { counterparty, source }: ActivityRow,
  ofAddress: Names["ofAddress"],
): string => {
  if (counterparty === null) return source === null ? "–" : `${accountText(source)} > reserves`;
  switch (counterparty.type) {
    case "address":
      return partyText(counterparty.address, ofAddress(counterparty.address));
    case "account":
      return accountText(counterparty);
    case "private_wallet":
      return "Private wallet";
    case "recipients":
      return `${String(counterparty.count)} recipients`;
  }
};

const CENT_DIGITS = 2;
const centsText = (usd: string | null): string =>
  usd === null ? "–" : formatFixed(scaledTo(parseDecimal(usd), CENT_DIGITS, "floor"));

const formatFixed = (cents: bigint): string => {
  const digits = cents.toString().padStart(CENT_DIGITS + 1, "0");
  return `${digits.slice(0, -CENT_DIGITS)}.${digits.slice(-CENT_DIGITS)}`;
};

/** One row for each sent asset. Only the first row has the other columns. */
const rowsOf = (
  row: ActivityRow,
  ofAddress: Names["ofAddress"],
): readonly (readonly string[])[] => {
  const [first, ...others] = sumByAsset(row.sent);
  const { received } = row;
  return [
    [
      ...[minuteText(row.createdAt), whatText(row), STATUS_VIEWS[row.status].word],
      ...[
        first?.amount ?? "",
        first?.symbol ?? "",
        received?.amount ?? "–",
        received?.token.symbol ?? "",
      ],
      ...[centsText(row.usd), toText(row, ofAddress), row.memo],
    ],
    ...others.map(({ amount, symbol }) => ["", "", "", amount, symbol]),
  ];
};

interface ActivityPdf {
  readonly rows: readonly ActivityRow[];
  readonly ofAddress: Names["ofAddress"];
  readonly filters: Pick<ActivityFilters, "from" | "to">;
  /** Whether the filter matches more movements than the file contains. */
  readonly cut: boolean;
  readonly madeAt: Date;
}

/**
 * The filtered list as a PDF file, newest first. `Received` is the amount confirmed when the file
 * is made.
 */
export const activityPdf = ({ rows, ofAddress, filters, cut, madeAt }: ActivityPdf): string =>
  tablePdf({
    title: "Activity",
    facts: [
      ["Days", `${filters.from ?? "the beginning"} to ${filters.to ?? "today"}`],
      ["Made at (UTC)", minuteText(madeAt.toISOString())],
      ["Movements", cut ? `the newest ${String(rows.length)} of more` : String(rows.length)],
    ],
    columns: COLUMNS,
    rows: rows.flatMap((row) => rowsOf(row, ofAddress)),
  });
