import { countText } from "@/lib/core/amount-text";
import { formatAmount, parseAmount } from "@/lib/core/money";
import { cleanText, quoted, RefusedFileError } from "./table";
import { walkXml } from "./xml";

/**
 * A payment in a bank file (ISO 20022 pain.001). The payee has a bank account instead of an
 * address.
 */
export interface BankPayment {
  readonly creditor: string;
  /** IBAN, or another id of the account. */
  readonly account: string;
  /** Decimal digits, or the file's text when `refusal` is set. */
  readonly amount: string;
  /** ISO 4217. */
  readonly currency: string;
  readonly reference: string;
  readonly refusal: string | null;
}

export interface UnreadElement {
  readonly name: string;
  readonly samples: readonly string[];
}

export interface BankFile {
  readonly payments: readonly BankPayment[];
  readonly unread: readonly UnreadElement[];
  readonly notices: readonly string[];
}

const DEPTH_MAX = 40;
const TEXT_LENGTH_MAX = 2_000;
const SAMPLES_SHOWN = 3;
const UNREAD_SHOWN = 24;
/** Number of decimals with which sums are computed. The standard allows at most 17. */
const SUM_DECIMALS = 18;
const AMOUNT = /^(0|[1-9]\d{0,17})(\.\d{1,17})?$/;
const KIND = /\bpain\.001\.001\.\d\d\b/;
const PAYMENT = "CstmrCdtTrfInitn/PmtInf/CdtTrfTxInf";
const GROUP = "CstmrCdtTrfInitn/PmtInf";
const HEADER = "CstmrCdtTrfInitn/GrpHdr";

/** The paths within a payment that the import reads. */
const READ = new Set([
  "Amt/InstdAmt",
  "Amt/EqvtAmt/Amt",
  "Amt/EqvtAmt/CcyOfTrf",
  "Cdtr/Nm",
  "CdtrAcct/Id/IBAN",
  "CdtrAcct/Id/Othr/Id",
  "PmtId/EndToEndId",
  "RmtInf/Ustrd",
  "RmtInf/Strd/CdtrRefInf/Ref",
]);

const DAMAGED = "The file is damaged: it is no well-formed XML. Export it again.";

const refuse = (message: string): never => {
  throw new RefusedFileError(message);
};

/** Texts of elements by their path, in the order of the file. */
type Texts = Map<string, string[]>;

const add = (texts: Texts, path: string, text: string): void => {
  const found = texts.get(path);
  if (found === undefined) texts.set(path, [text]);
  else found.push(text);
};

const one = (texts: Texts, path: string): string => texts.get(path)?.[0] ?? "";

const toPayment = (texts: Texts, currencies: readonly string[]): BankPayment => {
  const amounts = texts.get("Amt/InstdAmt") ?? [];
  const [amount = one(texts, "Amt/EqvtAmt/Amt")] = amounts;
  const endToEnd = one(texts, "PmtId/EndToEndId");
  const remittance =
    (texts.get("RmtInf/Ustrd") ?? []).join(" ") || one(texts, "RmtInf/Strd/CdtrRefInf/Ref");
  const isRead = amounts.length === 1 && currencies.length === 1 && AMOUNT.test(amount);
  const refusal =
    amounts.length === 0 && amount !== ""
      ? `${quoted(amount)} is the equivalent in another currency of what is to be paid. Enter the amount.`
      : `${quoted(amount)} was not understood: the standard wants one amount such as 1250.50 with a currency.`;
  return {
    creditor: one(texts, "Cdtr/Nm"),
    account: one(texts, "CdtrAcct/Id/IBAN") || one(texts, "CdtrAcct/Id/Othr/Id"),
    amount,
    currency: currencies[0] ?? "",
    reference: remittance || (endToEnd === "NOTPROVIDED" ? "" : endToEnd),
    refusal: isRead ? null : refusal,
  };
};

/** The number and sum of payments that the file claims, for the whole file or for one group. */
interface Stated {
  readonly count: string;
  readonly sum: string;
}

/**
 * Refuses a file whose stated totals differ from its payments, because it was truncated or edited
 * by hand.
 */
const checkStated = (
  where: string,
  { count, sum }: Stated,
  payments: readonly BankPayment[],
): void => {
  if (count !== "" && Number(count) !== payments.length)
    refuse(
      `${where} says that there are ${count} payments, but there are ${countText(payments.length)}. Export the file again.`,
    );
  if (sum === "" || payments.some(({ refusal }) => refusal !== null)) return;
  const baseOf = (text: string): bigint =>
    /[1-9]/.test(text) ? parseAmount(text, SUM_DECIMALS) : 0n;
  const total = payments.reduce((all, { amount }) => all + baseOf(amount), 0n);
  if (!AMOUNT.test(sum) || baseOf(sum) !== total)
    refuse(
      `${where} says that the amounts add up to ${sum.slice(0, 40)}, but they add up to ${formatAmount(total, SUM_DECIMALS)}. Export the file again.`,
    );
};

const statedIn = (texts: Texts): Stated => ({
  count: one(texts, "NbOfTxs"),
  sum: one(texts, "CtrlSum"),
});

const walkLeaves = (
  xml: string,
  handlers: {
    readonly root: (namespaces: readonly string[]) => void;
    readonly leaf: (path: string, text: string, currency: string) => void;
    readonly close: (path: string) => void;
  },
): void => {
  const path: string[] = [];
  let text = "";
  let currency = "";
  walkXml(xml, {
    damaged: DAMAGED,
    noDocumentType: true,
    open: (name, attributes) => {
      if (path.length === 0) handlers.root(Object.values(attributes()));
      if (path.push(name) > DEPTH_MAX) refuse(DAMAGED);
      text = "";
      currency = name === "InstdAmt" || name === "Amt" ? (attributes().Ccy ?? "") : "";
    },
    text: (part) => {
      if (text.length + part.length > TEXT_LENGTH_MAX)
        refuse("An element of the file has too much text. Export it again.");
      text += part;
    },
    close: () => {
      // The path below the root `Document`.
      const here = path.slice(1).join("/");
      const clean = cleanText(text);
      if (clean !== "") handlers.leaf(here, clean, currency);
      handlers.close(here);
      text = "";
      path.pop();
    },
  });
};

const dateNotice = (dates: ReadonlySet<string>, today: string): readonly string[] => {
  const later = [...dates].filter((date) => date > today);
  return later.length === 0
    ? []
    : [
        `The file asks to be paid on ${later.join(", ")}. The payout is paid once it is approved, unless you schedule it.`,
      ];
};

export const isXml = (text: string): boolean => /^\uFEFF?\s*<(\?xml|!|[A-Za-z])/.test(text);

/**
 * Reads a customer credit transfer, pain.001.001.03 to .12 of ISO 20022. Elements are read by their
 * path, so that the name of another party is never used as the payee's. Files with a document type
 * are refused, because it could define entities.
 *
 * @param today the date in the person's time zone, as `2026-05-01`
 * @throws RefusedFileError
 */
export const parsePain = (xml: string, today: string): BankFile => {
  const payments: BankPayment[] = [];
  const unread = new Map<string, Set<string>>();
  const dates = new Set<string>();
  const header: Texts = new Map();
  let group: Texts = new Map();
  let groupStart = 0;
  let texts: Texts = new Map();
  let currencies: string[] = [];

  const leafOfPayment = (path: string, text: string, currency: string): void => {
    add(texts, path, text);
    if (path === "Amt/InstdAmt" || path === "Amt/EqvtAmt/Amt") currencies.push(currency);
    if (READ.has(path)) return;
    const samples = unread.get(path) ?? new Set<string>();
    if (samples.size < SAMPLES_SHOWN) samples.add(text);
    unread.set(path, samples);
  };
  const closeGroup = (): void => {
    const method = one(group, "PmtMtd");
    if (method !== "" && method !== "TRF")
      refuse(
        `The file has payments by ${quoted(method)}; only credit transfers (TRF) can be paid.`,
      );
    const date =
      one(group, "ReqdExctnDt") ||
      one(group, "ReqdExctnDt/Dt") ||
      one(group, "ReqdExctnDt/DtTm");
    if (date !== "") dates.add(date.slice(0, 10));
    checkStated("A group of the file", statedIn(group), payments.slice(groupStart));
    group = new Map();
    groupStart = payments.length;
  };
  walkLeaves(xml, {
    root: (namespaces) => {
      if (!namespaces.some((namespace) => KIND.test(namespace)))
        refuse(
          "This XML file is no credit transfer of ISO 20022 (pain.001). Choose that file, or save the sheet as CSV or XLSX.",
        );
    },
    leaf: (path, text, currency) => {
      if (path.startsWith(`${PAYMENT}/`))
        leafOfPayment(path.slice(PAYMENT.length + 1), text, currency);
      else if (path.startsWith(`${GROUP}/`)) add(group, path.slice(GROUP.length + 1), text);
      else if (path.startsWith(`${HEADER}/`)) add(header, path.slice(HEADER.length + 1), text);
    },
    close: (path) => {
      if (path === PAYMENT) {
        payments.push(toPayment(texts, currencies));
        texts = new Map();
        currencies = [];
      } else if (path === GROUP) closeGroup();
    },
  });
  if (payments.length === 0)
    refuse("The file has no payments. Choose a file with at least one.");
  checkStated("The header of the file", statedIn(header), payments);
  return {
    payments,
    unread: [...unread]
      .slice(0, UNREAD_SHOWN)
      .map(([name, samples]) => ({ name, samples: [...samples] })),
    notices: dateNotice(dates, today),
  };
};
