/**
 * Writes statements as camt.053.001.08 (ISO 20022, BankToCustomerStatement): the elements of the
 * message in the order of its schema.
 */
import { DomainError, invalidRequest } from "@/lib/core/errors";
import { isoCurrencyOf } from "@/lib/core/iso-currency";
import { formatAmount } from "@/lib/core/money";
import {
  closeTag,
  openTag,
  XML_DECLARATION,
  xmlElement,
  type XmlText,
  joinXml,
} from "@/lib/core/xml";
import { LEDGER_DECIMALS, type EntryRecord } from "@/lib/books/ledger/service";
import { kindOf } from "./entry-kind";
import type { BookStatement } from "./statements";

const NAMESPACE = "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08";

/**
 * Maximum number of digits after the point in an amount (ActiveOrHistoricCurrencyAndAmount). The
 * whole amount has at most 18 digits (`CAMT_DIGITS`).
 */
export const CAMT_DECIMALS = 5;
const CAMT_DIGITS = 18;
const AMOUNT_END = 10n ** BigInt(CAMT_DIGITS - CAMT_DECIMALS + LEDGER_DECIMALS);

const ID_LENGTH_MAX = 35;
const NAME_LENGTH_MAX = 70;
const REMITTANCE_LENGTH_MAX = 140;
const ISSUER = "Causeway";
const NOT_PROVIDED = "NOTPROVIDED";
/** The number of hex digits of an account's id that the reference of an entry begins with. */
const ACCOUNT_DIGITS = 16;
const STATEMENT_DIGITS = 12;

const element = (name: string, content: string | readonly (XmlText | null)[]): XmlText =>
  xmlElement(name, {}, content);

/** Ids of the standard have at most 35 characters, so the prefix and the hyphens are left out. */
const compactId = (id: string): string => id.slice(id.indexOf("_") + 1).replaceAll("-", "");

const absolute = (base: bigint): bigint => (base < 0n ? -base : base);

const sum = (base: bigint): string => formatAmount(absolute(base), LEDGER_DECIMALS);

const amount = (base: bigint, currency: string): XmlText =>
  xmlElement("Amt", { Ccy: currency }, sum(base));

const direction = (base: bigint): XmlText => element("CdtDbtInd", base < 0n ? "DBIT" : "CRDT");

const balance = (code: "OPBD" | "CLBD", base: bigint, currency: string, at: Date): XmlText =>
  element("Bal", [
    element("Tp", [element("CdOrPrtry", [element("Cd", code)])]),
    amount(base, currency),
    direction(base),
    element("Dt", [element("Dt", at.toISOString().slice(0, 10))]),
  ]);

/** The last millisecond of the period, because `to` is not a part of it. */
const lastMoment = ({ from, to }: BookStatement): Date =>
  new Date(Math.max(from.getTime(), to.getTime() - 1));

const seconds = (at: Date): string => Math.floor(at.getTime() / 1000).toString();

const statementId = (statement: BookStatement): string =>
  [
    compactId(statement.accountId).slice(-STATEMENT_DIGITS),
    seconds(statement.from),
    seconds(statement.to),
  ].join("-");

const account = (statement: BookStatement, currency: string): XmlText =>
  element("Acct", [
    element("Id", [
      element("Othr", [element("Id", compactId(statement.accountId)), element("Issr", ISSUER)]),
    ]),
    element("Tp", [element("Prtry", statement.asset?.symbol ?? statement.assetId)]),
    element("Ccy", currency),
    statement.name === null ? null : element("Nm", statement.name.slice(0, NAME_LENGTH_MAX)),
  ]);

const summary = ({ firstSeq, endSeq, inBase, outBase }: BookStatement): XmlText => {
  const netBase = inBase - outBase;
  return element("TxsSummry", [
    element("TtlNtries", [
      element("NbOfNtries", (endSeq - firstSeq).toString()),
      element("Sum", sum(inBase + outBase)),
      element("TtlNetNtry", [element("Amt", sum(netBase)), direction(netBase)]),
    ]),
    element("TtlCdtNtries", [element("Sum", sum(inBase))]),
    element("TtlDbtNtries", [element("Sum", sum(outBase))]),
  ]);
};

const party = (name: string | null): XmlText | null =>
  name === null ? null : element("Pty", [element("Nm", name.slice(0, NAME_LENGTH_MAX))]);

const counterparty = ({
  amountBase,
  counterpartyId,
  counterpartyName,
}: EntryRecord): XmlText | null => {
  if (counterpartyId === null) return null;
  const role = amountBase < 0n ? "Cdtr" : "Dbtr";
  const named = party(counterpartyName);
  return element("RltdPties", [
    named === null ? null : element(role, [named]),
    element(`${role}Acct`, [
      element("Id", [element("Othr", [element("Id", compactId(counterpartyId))])]),
    ]),
  ]);
};

const referenceOf = ({ data }: EntryRecord): string | null => {
  const reference = data?.["reference"];
  return typeof reference === "string" && reference !== "" ? reference : null;
};

/** Splits a text into parts of at most 140 UTF-16 units without cutting a character in two. */
const remittanceOf = (text: string): readonly string[] => {
  const parts: string[] = [""];
  for (const sign of text) {
    const last = parts.at(-1) ?? "";
    if (last.length + sign.length <= REMITTANCE_LENGTH_MAX)
      parts[parts.length - 1] = last + sign;
    else parts.push(sign);
  }
  return parts;
};

/**
 * The reference of an entry: the account's last 16 hex digits and the entry's sequence number. The
 * transaction's id is not sufficient, because one payout may credit an account twice.
 */
export const entryReference = (accountId: string, seq: bigint): string =>
  `${compactId(accountId).slice(-ACCOUNT_DIGITS)}-${seq.toString()}`;

const details = (entry: EntryRecord, accountReference: string, currency: string): XmlText => {
  const reference = referenceOf(entry);
  const endToEnd =
    reference === null || reference.length > ID_LENGTH_MAX ? NOT_PROVIDED : reference;
  return element("NtryDtls", [
    element("TxDtls", [
      element("Refs", [
        element("AcctSvcrRef", accountReference),
        element("EndToEndId", endToEnd),
        element("TxId", compactId(entry.transactionId)),
      ]),
      amount(entry.amountBase, currency),
      direction(entry.amountBase),
      counterparty(entry),
      reference === null
        ? null
        : element(
            "RmtInf",
            remittanceOf(reference).map((text) => element("Ustrd", text)),
          ),
    ]),
  ]);
};

const entryOf = (statement: BookStatement, entry: EntryRecord, currency: string): XmlText => {
  const accountReference = entryReference(statement.accountId, entry.seq);
  const at = [element("DtTm", entry.createdAt.toISOString())];
  const kind = kindOf(entry, statement.owner);
  return element("Ntry", [
    element("NtryRef", entry.seq.toString()),
    amount(entry.amountBase, currency),
    direction(entry.amountBase),
    element("RvslInd", entry.reversesId === null ? "false" : "true"),
    element("Sts", [element("Cd", "BOOK")]),
    element("BookgDt", at),
    element("ValDt", at),
    element("AcctSvcrRef", accountReference),
    element("BkTxCd", [element("Prtry", [element("Cd", kind), element("Issr", ISSUER)])]),
    details(entry, accountReference, currency),
    element("AddtlNtryInf", `${kind} ${entry.transactionId}`),
  ]);
};

/**
 * The currency of a statement in camt.053.
 * @throws DomainError `invalid_request`, which names `currency`, when the asset has no ISO 4217
 * code; `amount_precision` when a sum has too many digits
 */
export const camtCurrency = (statement: BookStatement): string => {
  const currency = isoCurrencyOf(statement.asset?.tokens ?? []);
  if (currency === null) {
    const message = `camt.053 needs an ISO 4217 currency, and ${statement.asset?.symbol ?? statement.assetId} has none. Download CSV or PDF instead.`;
    throw invalidRequest([{ path: "currency", message }]);
  }
  const { openingBase, closingBase, inBase, outBase } = statement;
  const sums = [openingBase, closingBase, inBase + outBase].map(absolute);
  if (sums.every((base) => base < AMOUNT_END)) return currency;
  const message = `A sum of the statement has more than ${String(CAMT_DIGITS)} digits, the most that camt.053 allows. Choose a shorter period, or download CSV.`;
  throw new DomainError("amount_precision", message, {
    details: [{ path: "amount", message, code: "amount_precision" }],
  });
};

/** The part of the file before the entries. @param currency see `camtCurrency` */
export const camtHead = (statement: BookStatement, currency: string, madeAt: Date): XmlText => {
  const id = statementId(statement);
  const last = lastMoment(statement);
  const made = element("CreDtTm", madeAt.toISOString());
  return joinXml([
    XML_DECLARATION,
    openTag("Document", { xmlns: NAMESPACE }),
    openTag("BkToCstmrStmt"),
    element("GrpHdr", [element("MsgId", id), made]),
    openTag("Stmt"),
    element("Id", id),
    made,
    element("FrToDt", [
      element("FrDtTm", statement.from.toISOString()),
      element("ToDtTm", last.toISOString()),
    ]),
    account(statement, currency),
    balance("OPBD", statement.openingBase, currency, statement.from),
    balance("CLBD", statement.closingBase, currency, last),
    summary(statement),
  ]);
};

export const camtEntries = (
  statement: BookStatement,
  entries: readonly EntryRecord[],
  currency: string,
): XmlText => joinXml(entries.map((entry) => entryOf(statement, entry, currency)));

/** The part of the file after the entries. */
export const camtEnd = (): XmlText =>
  joinXml([closeTag("Stmt"), closeTag("BkToCstmrStmt"), closeTag("Document")]);

/** Writes a statement as camt.053 while its entries are read. @param currency see `camtCurrency` */
export const toCamt053 = async function* (
  statement: BookStatement,
  entries: AsyncIterable<EntryRecord>,
  { currency, madeAt }: { readonly currency: string; readonly madeAt: Date },
): AsyncGenerator<XmlText> {
  yield camtHead(statement, currency, madeAt);
  for await (const entry of entries) yield camtEntries(statement, [entry], currency);
  yield camtEnd();
};
