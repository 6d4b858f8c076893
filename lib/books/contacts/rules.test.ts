import { expect, test } from "vitest";
import { createSimilarNames, type Namesake, needsApproval, valuesAfter } from "./rules";

const BEFORE = { name: "Payroll Ltd", tags: ["May"], chainIds: [1, 10] };

test.each([
  ["another name", { name: "Payroll Inc" }, true],
  ["another case", { name: "payroll Ltd" }, true],
  ["more chains", { chainIds: [1, 10, 137] }, true],
  ["fewer chains", { chainIds: [1] }, true],
  ["every chain", { chainIds: [] }, true],
  ["the same chains in another order, one of them twice", { chainIds: [10, 1, 10] }, false],
  ["the same name", { name: "Payroll Ltd" }, false],
  ["tags", { tags: [] }, false],
  ["nothing", {}, false],
])(
  "a change of an approved contact to %s needs a new approval: %s %s",
  (_what, change, needed) => {
    expect(needsApproval(BEFORE, valuesAfter(change, BEFORE))).toBe(needed);
  },
);

const address = (first: string, rest: string): `0x${string}` =>
  `0x${first}${rest.repeat(32)}8888`;
const payroll: Namesake = {
  contactId: "ct_1",
  name: "Payroll Ltd",
  address: address("1111", "a"),
  isApproved: true,
};
const proposed: Namesake = {
  contactId: "ct_2",
  name: "Grace",
  address: address("2222", "a"),
  isApproved: false,
};
const treasury: Namesake = {
  contactId: null,
  name: "Treasury",
  address: address("3333", "a"),
  isApproved: true,
};
const warningsOf = createSimilarNames([payroll, proposed, treasury]);
const EVE = {
  id: "ct_9",
  name: "Eve",
  address: address("9999", "b"),
  state: "proposed" as const,
};

test.each([
  [
    "a name that looks like that of an approved contact",
    "PayroII Ltd.",
    'the approved contact "Payroll Ltd"',
  ],
  ["an equal name", "Payroll Ltd", 'the approved contact "Payroll Ltd"'],
  ["the name of a wallet of the project", "TREASURY", 'the project\'s wallet "Treasury"'],
  ["the name of another proposed contact", "grace", 'a contact that is not approved, "Grace"'],
])("a proposed contact is flagged for %s", (_what, name, expected) => {
  expect(warningsOf({ ...EVE, name })).toEqual([
    {
      code: "similar_name",
      path: "name",
      message: expect.stringContaining(expected) as string,
    },
  ]);
});

test("no contact is flagged for itself, and nobody flags an approved contact by proposing its name", () => {
  expect(warningsOf(EVE)).toEqual([]);
  expect(
    warningsOf({ id: "ct_1", name: payroll.name, address: payroll.address, state: "approved" }),
  ).toEqual([]);
  expect(warningsOf({ ...EVE, name: "Grace", state: "approved" as const })).toEqual([]);
});
