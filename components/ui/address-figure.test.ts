import { expect, test } from "vitest";
import { addressFigure } from "./address-figure";

const ADA = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";

test("an address has one figure, whatever the case of its letters", () => {
  expect(addressFigure(ADA)).toEqual(addressFigure(ADA.toLowerCase()));
});

test("an address that differs in its middle alone has another figure", () => {
  const like = `0x7099${"0".repeat(32)}79c8`;
  expect(addressFigure(like).mainPath).not.toBe(addressFigure(ADA).mainPath);
});

test("a thousand addresses have a thousand figures", () => {
  const figures = Array.from({ length: 1000 }, (_, index) => {
    const { main, mainPath, spotPath } = addressFigure(
      `0x${index.toString(16).padStart(40, "0")}`,
    );
    return `${main} ${mainPath} ${spotPath}`;
  });
  expect(new Set(figures).size).toBe(1000);
});
