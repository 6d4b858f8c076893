import { type Cell, cellText } from "@/components/features/file-import/table";

export const FIELDS = ["recipient", "amount", "token", "reference", "note"] as const;
export type ImportField = (typeof FIELDS)[number];
/**
 * The meanings that a column of a file can have. `chain` and `type` are not fields of a payment.
 * They only serve to refuse rows for another chain or for NFTs.
 */
export const COLUMNS = [...FIELDS, "chain", "type"] as const;
export type ImportColumn = (typeof COLUMNS)[number];

/** Known headings of each column, in lower case without spaces and signs. */
const NAMES = {
  recipient: [
    "recipientaddress",
    "recipientwallet",
    "recipientaccountid",
    "recipientaccount",
    "walletaddress",
    "toaddress",
    "receiveraddress",
    "destinationaddress",
    "beneficiaryaddress",
    "beneficiaryaccount",
    "beneficiaryiban",
    "creditoraccount",
    "address",
    "recipient",
    "receiver",
    "wallet",
    "payee",
    "beneficiary",
    "destination",
    "accountid",
    "accountnumber",
    "account",
    "iban",
    "to",
  ],
  amount: [
    "amount",
    "value",
    "quantity",
    "qty",
    "sum",
    "total",
    "payment",
    "paymentamount",
    "transferamount",
    "instructedamount",
    "totalamount",
    "netamount",
    "grossamount",
    "amountdue",
    "netpay",
    "grosspay",
    "pay",
    "betrag",
    "montant",
    "importe",
    "importo",
    "bedrag",
  ],
  token: [
    "tokenaddress",
    "tokensymbol",
    "tokencontract",
    "contractaddress",
    "token",
    "currency",
    "currencycode",
    "paymentcurrency",
    "amountcurrency",
    "targetcurrency",
    "asset",
    "coin",
    "symbol",
    "ticker",
    "ccy",
  ],
  reference: [
    "reference",
    "paymentreference",
    "ref",
    "memo",
    "invoice",
    "invoiceno",
    "invoicenumber",
    "invoiceid",
    "description",
    "purpose",
    "endtoendid",
    "remittanceinformation",
  ],
  note: ["note", "notes", "internalnote", "comment", "comments", "remark", "remarks"],
  chain: ["chain", "chainid", "chainname", "network", "networkid", "networkname", "blockchain"],
  type: ["tokentype", "assettype", "type"],
} as const satisfies Record<ImportColumn, readonly string[]>;

/** Longer headings are not searched for a unit, because the search takes quadratic time. */
const HEADING_LENGTH_MAX = 100;
const UNIT = String.raw`[a-z]{0,3}[A-Z]{2}[A-Za-z0-9.]{0,8}|(?:US)?\p{Sc}|wei|gwei|cents?|thousands?|millions?`;
/** Matches a heading with a unit, such as `Amount (USD)`, `Amount in EUR` or `amount_wei`. */
const BESIDE_UNIT = new RegExp(
  String.raw`^(?<name>.*?)[\s_-]*(?:\((?:in )?(?<inside>${UNIT})\)|\[(?:in )?(?<boxed>${UNIT})\]|[\s_-](?:in )?(?<bare>${UNIT}))$`,
  "u",
);

const bareName = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, "");

const isNamed = (text: string, column: ImportColumn): boolean =>
  (NAMES[column] as readonly string[]).includes(bareName(text));

interface HeadingParts {
  readonly name: string;
  readonly unit: string | null;
}

const partsOf = (text: string): HeadingParts => {
  if (text.length > HEADING_LENGTH_MAX) return { name: text, unit: null };
  const { name = text, inside, boxed, bare } = BESIDE_UNIT.exec(text)?.groups ?? {};
  const marked = inside ?? boxed ?? /(?:US)?\p{Sc}/u.exec(text)?.[0];
  if (marked !== undefined) return { name, unit: marked };
  // Whether the found unit is only a word, such as `DUE` in `AMOUNT DUE` or `SALARY` in `NET
  // SALARY`.
  const isWord =
    bare === undefined ||
    isNamed(text, "amount") ||
    !(isNamed(name, "amount") || /[a-z]/.test(name));
  return isWord ? { name: text, unit: null } : { name, unit: bare };
};

export const headingUnit = (heading: Cell | undefined): string | null =>
  partsOf(cellText(heading)).unit;

export const columnOfHeading = (heading: Cell | undefined): ImportColumn | null => {
  const text = cellText(heading);
  const named = COLUMNS.find((column) => isNamed(text, column));
  if (named !== undefined) return named;
  return isNamed(partsOf(text).name, "amount") ? "amount" : null;
};
