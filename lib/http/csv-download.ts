import type { CsvText } from "@/lib/core/csv";
import type { XmlText } from "@/lib/core/xml";

const encoder = new TextEncoder();

type Parts = AsyncIterable<string | Uint8Array> | Iterable<string | Uint8Array>;

/** Sends `parts` as a file, generated only as fast as the caller reads. */
const download = (headers: Readonly<Record<string, string>>, parts: Parts): Response => {
  const iterator =
    Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next: IteratorResult<string | Uint8Array, unknown> = await iterator.next();
        if (next.done === true) controller.close();
        else if (typeof next.value === "string") controller.enqueue(encoder.encode(next.value));
        else controller.enqueue(next.value);
      } catch (error) {
        controller.error(error);
      }
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(body, { headers });
};

const attachment = (fileName: string): string => `attachment; filename="${fileName}"`;

/**
 * A CSV file as a Response, sent while `lines` are generated. The lines contain their line ends.
 * Every answer of the type `text/csv` must be made here, because the type `CsvText` ensures that
 * all cells are encoded.
 */
export const csvDownload = (
  fileName: string,
  lines: AsyncIterable<CsvText> | Iterable<CsvText>,
): Response =>
  download(
    {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": attachment(fileName),
    },
    lines,
  );

/** An XML file as a Response, sent while `parts` are generated. */
export const xmlDownload = (fileName: string, parts: AsyncIterable<XmlText>): Response =>
  download(
    {
      "content-type": "application/xml; charset=utf-8",
      "content-disposition": attachment(fileName),
    },
    parts,
  );

/** A stored file as a Response, sent while its parts are read. */
export const fileDownload = (fileName: string, parts: AsyncIterable<Uint8Array>): Response =>
  download(
    {
      "content-type": "application/octet-stream",
      "content-disposition": attachment(fileName),
    },
    parts,
  );
