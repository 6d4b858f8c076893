import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { RoutesCard } from "./routes";
import type { Quote } from "./tokens";

// The code under test reads none of the other fields.
const QUOTE = {
  routeId: "rt_1",
  to: { amount: "99", minAmount: "98", token: { symbol: "USDC" } },
  steps: [{ from: { symbol: "USDC" }, to: { symbol: "USDC" }, venue: "Across" }],
  estimatedSeconds: 4,
  alternatives: [
    {
      routeId: "rt_2",
      label: "USDT → USDT, Across",
      amount: "100",
      minAmount: "99",
      estimatedSeconds: 95,
      steps: ["USDC → USDT, Uniswap v3", "USDT → USDT, Across"],
    },
  ],
} as unknown as Quote;

const textOf = (outdated: boolean, routeId: string | null): string[] => {
  const chosen = { body: null, routeId, choose: () => undefined };
  const html = renderToStaticMarkup(
    <RoutesCard quote={QUOTE} outdated={outdated} chosen={chosen} />,
  );
  return [...html.matchAll(/<button[^>]*role="radio"[^>]*>.*?<\/button>/g)].map(([row]) => {
    const isChecked = row.includes('aria-checked="true"');
    return `${isChecked ? "x" : "-"} ${row.replaceAll(/<[^>]*>/g, "")}`;
  });
};

test("each route is one radio: name, amount, difference to the best, time", () => {
  expect(textOf(false, "rt_1")).toEqual([
    "- Uniswap v3 → Across (USDT) 100.00 USDC, Best price about 2 min",
    "x Across 99.00 USDC, −1 % about 4 s",
  ]);
});

test("the choice is marked before its quote is there", () => {
  expect(textOf(true, "rt_2").map((text) => text.slice(0, 1))).toEqual(["x", "-"]);
  expect(textOf(true, null).map((text) => text.slice(0, 1))).toEqual(["x", "-"]);
});
