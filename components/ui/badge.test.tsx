import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import type { Status, SubStatus } from "@/lib/core/status";
import { StatusBadge } from "./badge";

const wordsOf = (status: Status, subStatus: SubStatus): string =>
  renderToStaticMarkup(<StatusBadge status={status} subStatus={subStatus} />).replace(
    /<[^>]*>/g,
    "",
  );

test("an end says nothing about the step at which it ended, and nothing twice", () => {
  expect(wordsOf("cancelled", "awaiting_approval")).toBe("Cancelled");
  expect(wordsOf("expired", "awaiting_otp")).toBe("Expired");
  expect(wordsOf("partially_completed", "partial")).toBe("Partly completed");
  expect(wordsOf("completed", "full")).toBe("Completed");
});

test("until the end the detail stands alone", () => {
  expect(wordsOf("pending", "awaiting_approval")).toBe("Waiting for approval");
  expect(wordsOf("processing", "bridging")).toBe("Crossing chains");
  expect(wordsOf("pending", "created")).toBe("Pending");
});
