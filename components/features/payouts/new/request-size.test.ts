import { expect, test } from "vitest";
import { EMPTY_ROW, type DraftValues } from "./draft-row";
import { requestBytes, requestProblem } from "./request-size";

const row = (note: string): DraftValues => ({
  ...EMPTY_ROW,
  recipient: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  amount: "12.5",
  note,
});

test("ten thousand rows fit; one more, or long notes in each, are refused with what to do", () => {
  const rows = Array.from({ length: 10_000 }, () => row(""));
  expect(requestProblem(rows)).toBeNull();
  expect(requestProblem([...rows, row("")])).toBe(
    "There are 10,001 rows; a payout takes at most 10,000. Split the file.",
  );
  expect(requestProblem(rows.map(() => row("é".repeat(200))))).toMatch(
    /^The rows make a request of 5\.\d MiB; at most 4 MiB can be sent\. Leave out the notes, or split the file\.$/,
  );
});

test("the size is never under that of the request itself", () => {
  const rows = [row(""), row('quotes " and é')];
  const body = {
    chainId: 31_337,
    transfers: rows.map(({ recipient, amount, note }) => ({
      address: recipient,
      amount,
      token: recipient,
      note,
    })),
  };
  expect(requestBytes(rows)).toBeGreaterThan(new Blob([JSON.stringify(body)]).size);
});
