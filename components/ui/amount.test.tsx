import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Amount, columnTail, Usd } from "./amount";
import { ChainMark, TokenMark } from "./marks";
import { TooltipProvider } from "./tooltip";

const drawn = (element: React.ReactNode): string =>
  renderToStaticMarkup(<TooltipProvider>{element}</TooltipProvider>);

/** The text that a person reads and copies: the markup without the tags. */
const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, "");

test("an amount is written with its unit, which its mark does not add to", () => {
  expect(textOf(drawn(<Amount value="1250.123456" unit="USDC" />))).toBe("1,250.12 USDC");
  expect(textOf(drawn(<Amount value="5" unit="AERO" />))).toBe("5 AERO");
});

test("an amount of which digits are left out can have the focus, and one that is whole cannot", () => {
  expect(drawn(<Amount value="0.123456789" unit="WETH" />)).toContain('tabindex="0"');
  expect(drawn(<Amount value="0.5" unit="WETH" />)).not.toContain("tabindex");
});

test("inside links and buttons the title has every digit, and nothing has the focus", () => {
  const html = drawn(<Amount value="0.123456789" unit="WETH" plain />);
  expect(html).toContain('title="0.123456789 WETH"');
  expect(html).not.toContain("tabindex");
});

test("a column is as wide behind its decimal points as its widest fraction with its unit", () => {
  const amounts = [
    { value: "1500", symbol: "USDC" },
    { value: "0.066630215", symbol: "WETH" },
    { value: "7", symbol: "DAI" },
  ];
  expect(columnTail(amounts)).toBe(".0666302 WETH");
  expect(columnTail(amounts, { units: false })).toBe(".0666302");
  expect(columnTail([])).toBe("");
  const html = drawn(<Amount value="1500" unit="USDC" column={columnTail(amounts)} />);
  expect(html).toContain('data-widest="1,500.0666302 WETH"');
  expect(textOf(html)).toBe("1,500.00 USDC");
});

test("an unknown value is a dash with its reason, never a zero", () => {
  expect(textOf(drawn(<Usd value={null} />))).toBe("–No price is known");
  expect(textOf(drawn(<Usd value="0" />))).toBe("$0.00");
});

test("marks are drawings without text, letters for what has none of its own", () => {
  for (const mark of [
    <TokenMark key="1" symbol="USDC" />,
    <ChainMark key="2" name="Local 2" />,
  ])
    expect(textOf(drawn(mark))).toBe("");
  expect(drawn(<TokenMark symbol="AERO" />)).toContain('data-letter="A"');
  expect(drawn(<TokenMark symbol="USDC" />)).not.toContain("data-letter");
  expect(drawn(<TokenMark symbol="constructor" />)).toContain('data-letter="C"');
  expect(drawn(<ChainMark name="Local 2" />)).toContain('data-letter="2"');
});
