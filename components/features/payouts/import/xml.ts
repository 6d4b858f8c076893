import { Parser } from "saxen";
import { RefusedFileError } from "./table";

export type Attributes = Readonly<Record<string, string>>;

interface XmlHandlers {
  /** The element's name without its namespace prefix, because some programs write `x:row`. */
  readonly open?: (name: string, attributes: () => Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

const decoded = (attributes: Attributes, decode: (text: string) => string): Attributes =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, decode(value)]));

/** Walks an XML text; entities of a document type are never expanded. @throws RefusedFileError when it is no XML */
export const walkXml = (xml: string, { open, close, text }: XmlHandlers): void => {
  const parser = new Parser();
  const errors: Error[] = [];
  parser.on("openTag", (name, attributes, decode) => open?.(localName(name), () => decoded(attributes(), decode)));
  parser.on("closeTag", (name) => close?.(localName(name)));
  parser.on("text", (content, decode) => text?.(decode(content)));
  parser.on("cdata", (content) => text?.(content));
  parser.on("error", (error) => {
    errors.push(error);
    parser.stop();
  });
  parser.parse(xml);
  if (errors.length > 0)
    throw new RefusedFileError("The spreadsheet is damaged. Open it, save it again as XLSX, or save it as CSV.");
};
