import { expect, test } from "vitest";
import { parsePain } from "./pain";
import { readImport } from "./read-import";
import { RefusedFileError } from "./table";

const KIND = { rowsMax: 10, row: "payment", whole: "a payout", banks: true } as const;

const TODAY = "2026-05-01";

interface Payment {
  readonly amount?: string;
  readonly creditor?: string;
  readonly account?: string;
  readonly details?: string;
}

const paymentXml = ({
  amount,
  creditor = "Ada Ltd",
  account = "<IBAN>DE89370400440532013000</IBAN>",
  details = "",
}: Payment): string =>
  `<CdtTrfTxInf><PmtId><EndToEndId>E2E-7</EndToEndId></PmtId>${amount ?? '<Amt><InstdAmt Ccy="USD">1250.50</InstdAmt></Amt>'}` +
  `<ChrgBr>SLEV</ChrgBr><Cdtr><Nm>${creditor}</Nm></Cdtr><CdtrAcct><Id>${account}</Id></CdtrAcct>${details}</CdtTrfTxInf>`;

interface FileParts {
  readonly namespace?: string;
  readonly header?: string;
  readonly group?: string;
  readonly payments?: readonly Payment[];
}

const fileOf = ({
  namespace = "pain.001.001.09",
  header = "",
  group = "<PmtMtd>TRF</PmtMtd>",
  payments = [{}],
}: FileParts): string =>
  `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${namespace}">
  <CstmrCdtTrfInitn>
    <GrpHdr><MsgId>M1</MsgId>${header}<InitgPty><Nm>Payer</Nm></InitgPty></GrpHdr>
    <PmtInf>${group}<Dbtr><Nm>Payer</Nm></Dbtr>${payments.map(paymentXml).join("")}</PmtInf>
  </CstmrCdtTrfInitn>
</Document>`;

const parse = (parts: FileParts) => parsePain(fileOf(parts), TODAY);
const refusal = (xml: string): string => {
  try {
    parsePain(xml, TODAY);
  } catch (error) {
    expect(error).toBeInstanceOf(RefusedFileError);
    return (error as RefusedFileError).message;
  }
  return "It was read.";
};

test("payments are read with payee, account, amount, currency and reference", () => {
  const { payments } = parse({
    header: "<NbOfTxs>3</NbOfTxs><CtrlSum>1253.51</CtrlSum>",
    payments: [
      { details: "<RmtInf><Ustrd>Invoice 7 &amp; 8</Ustrd></RmtInf>" },
      {
        amount: '<Amt><InstdAmt Ccy="EUR">3</InstdAmt></Amt>',
        creditor: "Bob",
        account: "<Othr><Id>ACC-1</Id></Othr>",
        details: "<RmtInf><Strd><CdtrRefInf><Ref>RF18</Ref></CdtrRefInf></Strd></RmtInf>",
      },
      {
        amount: '<Amt><InstdAmt Ccy="USD">0.01</InstdAmt></Amt>',
        creditor: "<![CDATA[Ann & Co]]>",
      },
    ],
  });
  const ada = {
    creditor: "Ada Ltd",
    account: "DE89370400440532013000",
    currency: "USD",
    refusal: null,
  };
  expect(payments).toEqual([
    { ...ada, amount: "1250.50", reference: "Invoice 7 & 8" },
    {
      ...ada,
      creditor: "Bob",
      account: "ACC-1",
      amount: "3",
      currency: "EUR",
      reference: "RF18",
    },
    { ...ada, creditor: "Ann & Co", amount: "0.01", reference: "E2E-7" },
  ]);
});

test.each(["pain.001.001.03", "pain.001.001.09", "pain.001.001.12"])(
  "%s is read",
  (namespace) => {
    expect(parse({ namespace }).payments).toHaveLength(1);
  },
);

test("a prefix of the namespace does not matter", () => {
  const xml = fileOf({})
    .replace(/<(\/?)([A-Z])/g, "<$1p:$2")
    .replace("xmlns=", "xmlns:p=");
  expect(parsePain(xml, TODAY).payments).toHaveLength(1);
});

test("a name, an account or an amount in another place is never taken for the payee's", () => {
  const { payments } = parse({
    payments: [
      {
        details:
          '<UltmtCdtr><Nm>Other</Nm></UltmtCdtr><RltdRmtInf><Amt><InstdAmt Ccy="EUR">9</InstdAmt></Amt></RltdRmtInf><CdtrAgt><FinInstnId><Nm>Bank</Nm></FinInstnId></CdtrAgt>',
      },
    ],
  });
  expect(payments[0]).toMatchObject({
    creditor: "Ada Ltd",
    amount: "1250.50",
    currency: "USD",
  });
});

test.each([
  ['<Amt><InstdAmt Ccy="USD">1,250.50</InstdAmt></Amt>', '"1,250.50" was not understood'],
  ['<Amt><InstdAmt Ccy="USD">1E+3</InstdAmt></Amt>', '"1E+3" was not understood'],
  ['<Amt><InstdAmt Ccy="USD">007</InstdAmt></Amt>', '"007" was not understood'],
  ['<Amt><InstdAmt Ccy="USD">-5</InstdAmt></Amt>', '"-5" was not understood'],
  ["<Amt><InstdAmt></InstdAmt></Amt>", '"" was not understood'],
  [
    '<Amt><InstdAmt Ccy="USD">1</InstdAmt><InstdAmt Ccy="USD">2</InstdAmt></Amt>',
    '"1" was not understood',
  ],
  [
    '<Amt><EqvtAmt><Amt Ccy="USD">5</Amt><CcyOfTrf>EUR</CcyOfTrf></EqvtAmt></Amt>',
    '"5" is the equivalent in another currency',
  ],
])("the amount %s is a bad row that quotes it", (amount, message) => {
  expect(parse({ payments: [{ amount }] }).payments[0]?.refusal).toContain(message);
});

test("elements that are not read are listed with what they hold", () => {
  const { unread } = parse({
    payments: [
      { details: "<Purp><Cd>SALA</Cd></Purp>" },
      { details: "<Purp><Cd>BONU</Cd></Purp>" },
    ],
  });
  expect(unread).toEqual([
    { name: "ChrgBr", samples: ["SLEV"] },
    { name: "Purp/Cd", samples: ["SALA", "BONU"] },
  ]);
});

test.each([
  [
    "another XML",
    "<html><body/></html>",
    "This XML file is no credit transfer of ISO 20022 (pain.001).",
  ],
  [
    "a direct debit",
    fileOf({ namespace: "pain.008.001.08" }),
    "This XML file is no credit transfer",
  ],
  [
    "cut XML",
    fileOf({}).slice(0, -20),
    "The file is damaged: it is no well-formed XML. Export it again.",
  ],
  ["no payment", fileOf({ payments: [] }), "The file has no payments."],
  ["cheques", fileOf({ group: "<PmtMtd>CHK</PmtMtd>" }), 'The file has payments by "CHK"'],
  [
    "another number of payments",
    fileOf({ header: "<NbOfTxs>2</NbOfTxs>" }),
    "The header of the file says that there are 2 payments, but there are 1.",
  ],
  [
    "another sum",
    fileOf({ header: "<CtrlSum>1250.51</CtrlSum>" }),
    "The header of the file says that the amounts add up to 1250.51, but they add up to 1250.5.",
  ],
  [
    "another sum of a group",
    fileOf({ group: "<CtrlSum>9</CtrlSum>" }),
    "A group of the file says that the amounts add up to 9",
  ],
  [
    "a document type",
    fileOf({}).replace("<Document", '<!DOCTYPE Document [<!ENTITY a "5">]><Document'),
    "The file is damaged",
  ],
  [
    "an endless element",
    fileOf({ payments: [{ creditor: "x".repeat(3_000) }] }),
    "An element of the file has too much text.",
  ],
  [
    "endless nesting",
    fileOf({ payments: [{ details: "<a>".repeat(99) + "</a>".repeat(99) }] }),
    "The file is damaged",
  ],
])("%s is refused", (_, xml, message) => {
  expect(refusal(xml)).toContain(message);
});

test("a date in the future is said, because the payout does not wait for it by itself", () => {
  const dated = (day: string) =>
    parse({ group: `<ReqdExctnDt><Dt>${day}</Dt></ReqdExctnDt>` }).notices;
  expect(dated("2026-05-02")).toEqual([
    expect.stringContaining("The file asks to be paid on 2026-05-02."),
  ]);
  expect(dated(TODAY)).toEqual([]);
});

test("the file is recognised by what is in it, and bounded like any other", async () => {
  const read = await readImport(new Blob([fileOf({})]), KIND, TODAY);
  expect(read.kind).toBe("bank");
  const many = fileOf({ payments: Array.from({ length: 11 }, () => ({})) });
  await expect(readImport(new Blob([many]), KIND, TODAY)).rejects.toThrow(
    "The file has 11 rows; a payout takes at most 10.",
  );
});
