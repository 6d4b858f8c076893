import { expect, test } from "vitest";
import { parseDelimited } from "@/components/features/file-import/table";
import { type ContactCells, contactCellsOf, contactLayoutOf } from "./contact-columns";
import { problemsOf, refusedCells, sentRows } from "./contact-rows";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const BOB = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const CHAINS = [
  { id: 31_337, name: "Local 1" },
  { id: 10, name: "OP Mainnet" },
];

const read = (csv: string): ContactCells[] => {
  const table = parseDelimited(csv);
  return contactCellsOf(table, contactLayoutOf(table.rows));
};
const rowsOf = (csv: string) => read(csv).map((cells, key) => ({ ...cells, key }));

test.each([
  ["their headings", `Company,Wallet address,Networks,Category\nAcme,${ADA},Local 1,Supplier`],
  ["headings in another order", `tags;chain;address;name\nSupplier;Local 1;${ADA};Acme`],
])("columns of contacts are found by %s", (_what, csv) => {
  expect(read(csv)).toEqual([
    { name: "Acme", address: ADA, chains: "Local 1", tags: "Supplier" },
  ]);
});

test("without headings, the column of addresses is found by its content", () => {
  expect(read(`Acme,${ADA}\nBank,${BOB}`)).toMatchObject([
    { name: "Acme", address: ADA },
    { name: "Bank", address: BOB },
  ]);
});

test("of two columns with addresses the person chooses one", () => {
  const { rows } = parseDelimited(`Name,Address,Wallet\nAcme,${ADA},${BOB}`);
  expect(contactLayoutOf(rows).open).toEqual({ address: [1, 2] });
});

test("each cell of a row has its own problem", () => {
  const rows = rowsOf(
    [
      "name,address,chains,tags",
      `,${ADA},Polygon,${"x".repeat(40)}`,
      "Bank,0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed,,",
      `Ada again,${ADA.toLowerCase()},,`,
      `Fine,${BOB},op; Local 1,A;B`,
    ].join("\n"),
  );
  const problems = problemsOf(rows, CHAINS);
  expect(problems.get(0)).toEqual({
    name: "Enter a name.",
    chains: '"Polygon" is no chain of this service. Empty means every chain.',
    tags: "At most 10 tags of 32 characters each.",
  });
  expect(problems.get(1)?.address).toContain("checksum is wrong");
  expect(problems.get(2)).toEqual({ address: "Row 1 has this address already." });
  expect(problems.has(3)).toBe(false);
});

test("a request leaves out what the file does not say", () => {
  const rows = rowsOf(
    `name,address,chains,tags\nFine,${BOB},op; Local 1,A|B\nPlain,${ADA},,\nAll,${ADA},every chain,`,
  );
  expect(sentRows(rows, CHAINS)).toEqual([
    { name: "Fine", address: BOB, chainIds: [10, 31_337], tags: ["A", "B"] },
    { name: "Plain", address: ADA },
    { name: "All", address: ADA, chainIds: [] },
  ]);
});

test("messages of a refusal stand at their rows, and other refusals are not hidden", () => {
  const rows = rowsOf(`name,address\nFine,${BOB}\nPlain,${ADA}`);
  expect(
    refusedCells([{ path: "contacts.1.address", message: "is a contract" }], rows),
  ).toEqual(new Map([[1, { address: "This is a contract." }]]));
  expect(refusedCells([{ path: "existing", message: "is wrong" }], rows)).toBeNull();
  expect(refusedCells([], rows)).toBeNull();
});
