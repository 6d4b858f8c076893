import { describe, expect, test } from "vitest";
import { refusalText } from "./authentication";

describe("why a sign-in was refused, in words", () => {
  test("says that sign-up is closed and whom to ask", () => {
    expect(refusalText("sign_up_closed")).toMatch(/sign-up is closed\. Ask whoever runs this installation/);
  });

  test("has words for what it does not know", () => {
    expect(refusalText(undefined)).toMatch(/did not accept/);
    expect(refusalText("something_new")).toBe(refusalText(undefined));
  });
});
