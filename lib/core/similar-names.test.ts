import { expect, test } from "vitest";
import { areSimilar } from "./similar-names";

test.each([
  ["equal names", "Payroll Ltd", "Payroll Ltd"],
  ["another case", "Payroll Ltd", "PAYROLL LTD"],
  ["spaces and punctuation", "Payroll Ltd", " Pay-roll  Ltd. "],
  ["an accent", "Payroll Ltd", "Páyroll Ltd"],
  ["digits for letters", "Payroll Ltd", "Payro11 Ltd"],
  ["a capital I for an l", "Payroll Ltd", "PayroIl Ltd"],
  ["a zero for an O", "Payroll Ltd", "Payr0ll Ltd"],
  ["rn for m", "Commerce", "Cornrnerce"],
  ["vv for w", "Wages", "VVages"],
  ["Cyrillic small letters", "Payroll Ltd", "Раyrоll Ltd"],
  ["Cyrillic capitals", "HOBBY", "НОВВУ"],
  ["Greek letters", "Kappa", "Κaρρα"],
  ["full width", "Payroll Ltd", "Ｐａｙｒｏｌｌ Ｌｔｄ"],
  ["letters of mathematics", "Payroll", "𝐏𝐚𝐲𝐫𝐨𝐥𝐥"],
  ["a character without width", "Payroll Ltd", "Pay\u200broll Ltd"],
  ["a sign for a letter", "Payroll", "Payro|l"],
  ["a Greek name in capitals", "ήλιος", "ΉΛΙΟΣ"],
  ["a Cyrillic name in capitals", "Иванов", "ИВАНОВ"],
  ["names of one picture", "🏦", "🏦"],
])("names are similar: %s", (_what, one, other) => {
  expect(areSimilar(one, other)).toBe(true);
  expect(areSimilar(other, one)).toBe(true);
});

test.each([
  ["Payroll Ltd", "Payroll Inc"],
  ["Ada", "Grace"],
  ["Shop 2", "Shop 3"],
  ["🏦", "🏪"],
  ["東京", "大阪"],
  ["Иванов", "Петров"],
])("names are not similar: %s and %s", (one, other) => {
  expect(areSimilar(one, other)).toBe(false);
});
