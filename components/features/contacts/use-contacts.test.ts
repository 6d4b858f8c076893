import { expect, test } from "vitest";
import { type Contact, filterContacts, parseTags, tagsOf } from "./use-contacts";

const contact = (name: string, tags: string[] = []): Contact => ({
  id: `ct_${name}`,
  name,
  address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  tags,
  chainIds: [],
  state: "proposed",
  approvedAt: null,
  createdBy: "usr_1",
  createdAt: "2026-11-25T00:00:00.000Z",
  warnings: [],
});
const [ada, bank] = [contact("Ada", ["Payroll", "Berlin"]), contact("Bank", ["berlin"])];
const all = [ada, bank];

test.each([
  ["name", { q: "ad", tag: null }, [ada]],
  ["a part of the address", { q: "0X7099", tag: null }, all],
  ["a part of a tag", { q: "ROLL", tag: null }, [ada]],
  ["a whole tag in any case", { q: null, tag: "BERLIN" }, all],
  ["text and tag together", { q: "bank", tag: "Payroll" }, []],
])("contacts are found by %s", (_what, filter, found) => {
  expect(filterContacts(all, filter)).toEqual(found);
});

test("typed tags count once each, whatever their case", () => {
  expect(parseTags(" Payroll, berlin,, Berlin ,payroll")).toEqual(["Payroll", "berlin"]);
  expect(tagsOf([{ tags: ["b", "a"] }, { tags: ["a"] }])).toEqual(["a", "b"]);
});
