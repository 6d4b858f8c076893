import { expect, test } from "vitest";
import { closeTag, joinXml, openTag, xmlElement } from "./xml";

test("an element escapes its text and its attributes", () => {
  expect(xmlElement("Nm", { Ccy: '"<' }, "A & B <i>\n")).toBe(
    '<Nm Ccy="&quot;&lt;">A &amp; B &lt;i&gt;&#10;</Nm>',
  );
});

test("characters that XML does not allow become U+FFFD, and others stay", () => {
  expect(xmlElement("Nm", {}, "a\u0000b\u001Bc\uFFFEd\uD800e😀é")).toBe(
    "<Nm>a\uFFFDb\uFFFDc\uFFFDd\uFFFDe😀é</Nm>",
  );
});

test("an element holds other elements in their order, without those that are null", () => {
  const inner = [xmlElement("A", {}, "1"), null, xmlElement("B", {}, "2")];
  expect(joinXml([openTag("R"), xmlElement("C", {}, inner), closeTag("R")])).toBe(
    "<R><C><A>1</A><B>2</B></C></R>",
  );
});
