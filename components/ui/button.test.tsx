import { renderToStaticMarkup } from "react-dom/server";
import { expect, it } from "vitest";
import { RefreshButton } from "./button";

it("draws the same on the server whether data is being fetched or not", () => {
  const draw = (isFetching: boolean): string =>
    renderToStaticMarkup(<RefreshButton isFetching={isFetching} onRefresh={() => undefined} />);
  expect(draw(true)).toBe(draw(false));
  expect(draw(true)).toContain("Refresh");
});
