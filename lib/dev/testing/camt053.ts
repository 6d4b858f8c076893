/**
 * Reads camt.053.001.08 strictly by the schema of ISO 20022: the order of elements, how often each
 * may occur, and the facets of texts. Elements that the service never writes are not listed here,
 * so they count as faults too.
 */
import { Parser } from "saxen";

export interface XmlNode {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: XmlNode[];
  text: string;
}

/** Parses well-formed XML without a document type. */
const parseXml = (xml: string): XmlNode => {
  const root: XmlNode = { name: "", attributes: {}, children: [], text: "" };
  const path = [root];
  const parser = new Parser();
  const faults: string[] = [];
  parser.on("openTag", (name, attributes, decode) => {
    const decoded = Object.entries(attributes()).map(([key, text]) => [key, decode(text)]);
    const node: XmlNode = {
      name,
      attributes: Object.fromEntries(decoded) as Record<string, string>,
      children: [],
      text: "",
    };
    path.at(-1)?.children.push(node);
    path.push(node);
  });
  parser.on("closeTag", () => void path.pop());
  parser.on("text", (text, decode) => {
    const node = path.at(-1);
    if (node !== undefined) node.text += decode(text);
  });
  parser.on("attention", () => faults.push("document type"));
  parser.on("error", ({ message }) => faults.push(message));
  parser.on("warn", ({ message }) => faults.push(message));
  parser.parse(xml);
  const [document] = root.children;
  if (document === undefined || root.children.length !== 1 || faults.length > 0)
    throw new Error(`The file is no XML: ${faults.join(", ")}`);
  return document;
};

const DECIMAL = /^\d+(\.\d+)?$/;

const isDecimal = (text: string, digitsMax: number, fractionMax: number): boolean => {
  if (!DECIMAL.test(text)) return false;
  const [whole = "", fraction = ""] = text.split(".");
  const digits = whole.replace(/^0+/, "").length + fraction.replace(/0+$/, "").length;
  return fraction.length <= fractionMax && digits <= digitsMax;
};

const isText =
  (most: number) =>
  (text: string): boolean =>
    text.length > 0 && Array.from(text).length <= most;

const oneOf =
  (...words: readonly string[]) =>
  (text: string): boolean =>
    words.includes(text);

const FACETS: Readonly<Record<string, (text: string) => boolean>> = {
  Max34Text: isText(34),
  Max35Text: isText(35),
  Max70Text: isText(70),
  Max140Text: isText(140),
  Max500Text: isText(500),
  Max15NumericText: (text) => /^\d{1,15}$/.test(text),
  ISODate: (text) => /^\d{4}-\d{2}-\d{2}$/.test(text),
  ISODateTime: (text) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/.test(text),
  Currency: (text) => /^[A-Z]{3}$/.test(text),
  Amount: (text) => isDecimal(text, 18, 5),
  DecimalNumber: (text) => isDecimal(text, 18, 17),
  Direction: oneOf("CRDT", "DBIT"),
  Indicator: oneOf("true", "false"),
  BalanceType: oneOf("OPBD", "CLBD"),
  EntryStatus: oneOf("BOOK"),
};

/**
 * The type of an element, and how often the element occurs: once, or `?` at most once, `*` any
 * number of times, `+` at least once.
 */
type Child = readonly [name: string, type: string, often?: "?" | "*" | "+"];

const TYPES: Readonly<Record<string, readonly Child[]>> = {
  Document: [["BkToCstmrStmt", "BankToCustomerStatementV08"]],
  BankToCustomerStatementV08: [
    ["GrpHdr", "GroupHeader81"],
    ["Stmt", "AccountStatement9", "+"],
  ],
  GroupHeader81: [
    ["MsgId", "Max35Text"],
    ["CreDtTm", "ISODateTime"],
  ],
  AccountStatement9: [
    ["Id", "Max35Text"],
    ["CreDtTm", "ISODateTime", "?"],
    ["FrToDt", "DateTimePeriod1", "?"],
    ["Acct", "CashAccount39"],
    ["Bal", "CashBalance8", "+"],
    ["TxsSummry", "TotalTransactions6", "?"],
    ["Ntry", "ReportEntry10", "*"],
  ],
  DateTimePeriod1: [
    ["FrDtTm", "ISODateTime"],
    ["ToDtTm", "ISODateTime"],
  ],
  CashAccount39: [
    ["Id", "AccountIdentification4Choice"],
    ["Tp", "CashAccountType2Choice", "?"],
    ["Ccy", "Currency", "?"],
    ["Nm", "Max70Text", "?"],
  ],
  CashAccount38: [["Id", "AccountIdentification4Choice"]],
  AccountIdentification4Choice: [["Othr", "GenericAccountIdentification1"]],
  GenericAccountIdentification1: [
    ["Id", "Max34Text"],
    ["Issr", "Max35Text", "?"],
  ],
  CashAccountType2Choice: [["Prtry", "Max35Text"]],
  CashBalance8: [
    ["Tp", "BalanceType13"],
    ["Amt", "Amount"],
    ["CdtDbtInd", "Direction"],
    ["Dt", "DateAndDateTime2ChoiceDate"],
  ],
  BalanceType13: [["CdOrPrtry", "BalanceType10Choice"]],
  BalanceType10Choice: [["Cd", "BalanceType"]],
  DateAndDateTime2ChoiceDate: [["Dt", "ISODate"]],
  DateAndDateTime2ChoiceTime: [["DtTm", "ISODateTime"]],
  TotalTransactions6: [
    ["TtlNtries", "NumberAndSumOfTransactions4", "?"],
    ["TtlCdtNtries", "NumberAndSumOfTransactions1", "?"],
    ["TtlDbtNtries", "NumberAndSumOfTransactions1", "?"],
  ],
  NumberAndSumOfTransactions4: [
    ["NbOfNtries", "Max15NumericText", "?"],
    ["Sum", "DecimalNumber", "?"],
    ["TtlNetNtry", "AmountAndDirection35", "?"],
  ],
  NumberAndSumOfTransactions1: [
    ["NbOfNtries", "Max15NumericText", "?"],
    ["Sum", "DecimalNumber", "?"],
  ],
  AmountAndDirection35: [
    ["Amt", "DecimalNumber"],
    ["CdtDbtInd", "Direction"],
  ],
  ReportEntry10: [
    ["NtryRef", "Max35Text", "?"],
    ["Amt", "Amount"],
    ["CdtDbtInd", "Direction"],
    ["RvslInd", "Indicator", "?"],
    ["Sts", "EntryStatus1Choice"],
    ["BookgDt", "DateAndDateTime2ChoiceTime", "?"],
    ["ValDt", "DateAndDateTime2ChoiceTime", "?"],
    ["AcctSvcrRef", "Max35Text", "?"],
    ["BkTxCd", "BankTransactionCodeStructure4"],
    ["NtryDtls", "EntryDetails9", "*"],
    ["AddtlNtryInf", "Max500Text", "?"],
  ],
  EntryStatus1Choice: [["Cd", "EntryStatus"]],
  BankTransactionCodeStructure4: [["Prtry", "ProprietaryBankTransactionCodeStructure1", "?"]],
  ProprietaryBankTransactionCodeStructure1: [
    ["Cd", "Max35Text"],
    ["Issr", "Max35Text", "?"],
  ],
  EntryDetails9: [["TxDtls", "EntryTransaction10", "*"]],
  EntryTransaction10: [
    ["Refs", "TransactionReferences6", "?"],
    ["Amt", "Amount", "?"],
    ["CdtDbtInd", "Direction", "?"],
    ["RltdPties", "TransactionParties6", "?"],
    ["RmtInf", "RemittanceInformation16", "?"],
  ],
  TransactionReferences6: [
    ["AcctSvcrRef", "Max35Text", "?"],
    ["EndToEndId", "Max35Text", "?"],
    ["TxId", "Max35Text", "?"],
  ],
  TransactionParties6: [
    ["Dbtr", "Party40Choice", "?"],
    ["DbtrAcct", "CashAccount38", "?"],
    ["Cdtr", "Party40Choice", "?"],
    ["CdtrAcct", "CashAccount38", "?"],
  ],
  Party40Choice: [["Pty", "PartyIdentification135"]],
  PartyIdentification135: [["Nm", "Max70Text", "?"]],
  RemittanceInformation16: [["Ustrd", "Max140Text", "*"]],
};

const LEAST = { "?": 0, "*": 0, "+": 1 } as const;
const MOST = { "?": 1, "*": Number.POSITIVE_INFINITY, "+": Number.POSITIVE_INFINITY } as const;

/** Places where the node differs from its type. */
const faultsOf = (node: XmlNode, type: string, path: string): string[] => {
  const here = `${path}/${node.name}`;
  const faults: string[] = [];
  if (type === "Amount" && !/^[A-Z]{3}$/.test(node.attributes["Ccy"] ?? ""))
    faults.push(`${here}/@Ccy`);
  const facet = FACETS[type];
  if (facet !== undefined)
    return node.children.length === 0 && facet(node.text) ? faults : [...faults, here];
  if (node.text.trim() !== "") faults.push(`${here} has text`);
  let next = 0;
  for (const [name, childType, often] of TYPES[type] ?? []) {
    const start = next;
    for (let child = node.children[next]; child?.name === name; child = node.children[next]) {
      faults.push(...faultsOf(child, childType, here));
      next += 1;
    }
    const count = next - start;
    const least = often === undefined ? 1 : LEAST[often];
    const most = often === undefined ? 1 : MOST[often];
    if (count < least || count > most)
      faults.push(`${here}/${name} comes ${String(count)} times`);
  }
  const extra = node.children[next];
  return extra === undefined ? faults : [...faults, `${here}/${extra.name} is out of place`];
};

/** The text at a path such as `Dt/Dt`. @throws Error when there is none */
export const textAt = (node: XmlNode, path: string): string => {
  let found: XmlNode | undefined = node;
  for (const name of path.split("/"))
    found = found?.children.find((child) => child.name === name);
  if (found === undefined) throw new Error(`There is no ${path}.`);
  return found.text;
};

interface ReadEntry {
  readonly node: XmlNode;
  /** Decimal, below zero for a debit. */
  readonly amount: string;
}

export interface ReadStatement {
  readonly statement: XmlNode;
  /** Decimal, below zero for a debit, like `closing`. */
  readonly opening: string;
  readonly closing: string;
  readonly entries: readonly ReadEntry[];
}

const signed = (node: XmlNode): string =>
  `${textAt(node, "CdtDbtInd") === "DBIT" ? "-" : ""}${textAt(node, "Amt")}`;

/** Reads the one statement of a file. @throws Error when the file does not fit the schema */
export const readCamt053 = (xml: string): ReadStatement => {
  const document = parseXml(xml);
  const namespace = document.attributes["xmlns"];
  if (namespace !== "urn:iso:std:iso:20022:tech:xsd:camt.053.001.08")
    throw new Error(`The namespace is ${namespace ?? "missing"}.`);
  const faults = faultsOf(document, "Document", "");
  if (faults.length > 0)
    throw new Error(`The file does not fit the schema: ${faults.join("; ")}`);
  const statement = document.children[0]?.children.find(({ name }) => name === "Stmt");
  if (statement === undefined) throw new Error("There is no statement.");
  const balance = (code: string): string => {
    const found = statement.children.find(
      (child) => child.name === "Bal" && textAt(child, "Tp/CdOrPrtry/Cd") === code,
    );
    if (found === undefined) throw new Error(`There is no ${code}.`);
    return signed(found);
  };
  return {
    statement,
    opening: balance("OPBD"),
    closing: balance("CLBD"),
    entries: statement.children
      .filter(({ name }) => name === "Ntry")
      .map((node) => ({ node, amount: signed(node) })),
  };
};
