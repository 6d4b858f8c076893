import { Parser } from "saxen";
import { RefusedFileError, SPREADSHEET_DAMAGED } from "./table";

export type Attributes = Readonly<Record<string, string>>;

interface XmlHandlers {
  /** The message for a text that is not XML. */
  readonly damaged?: string;
  /** Refuses a document type declaration, which could define entities. */
  readonly noDocumentType?: boolean;
  /**
   * Called at the start of an element. `name` has no namespace prefix, because some programs write
   * `x:row`.
   */
  readonly open?: (name: string, attributes: () => Attributes) => void;
  readonly close?: (name: string) => void;
  readonly text?: (text: string) => void;
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);

const decoded = (attributes: Attributes, decode: (text: string) => string): Attributes =>
  Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, decode(value)]));

/**
 * Walks through an XML text without expanding entities.
 * @throws RefusedFileError when it is not XML
 */
export const walkXml = (
  xml: string,
  { damaged = SPREADSHEET_DAMAGED, noDocumentType = false, open, close, text }: XmlHandlers,
): void => {
  const parser = new Parser();
  const errors: Error[] = [];
  const fail = (error: Error): void => {
    errors.push(error);
    parser.stop();
  };
  parser.on("openTag", (name, attributes, decode) =>
    open?.(localName(name), () => decoded(attributes(), decode)),
  );
  parser.on("closeTag", (name) => close?.(localName(name)));
  parser.on("text", (content, decode) => text?.(decode(content)));
  parser.on("cdata", (content) => text?.(content));
  if (noDocumentType)
    parser.on("attention", () => fail(new Error("The text has a document type.")));
  parser.on("error", fail);
  parser.parse(xml);
  if (errors.length > 0) throw new RefusedFileError(damaged);
};
