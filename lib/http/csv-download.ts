import type { CsvText } from "@/lib/core/csv";

const encoder = new TextEncoder();

/**
 * A CSV file as a Response, sent while `lines` are generated. The lines contain their line ends,
 * and are generated only as fast as the caller reads. No other code answers `text/csv`.
 */
export const csvDownload = (
  fileName: string,
  lines: AsyncIterable<CsvText> | Iterable<CsvText>,
): Response => {
  const iterator =
    Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
  const body = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next: IteratorResult<string, unknown> = await iterator.next();
        if (next.done === true) controller.close();
        else controller.enqueue(encoder.encode(next.value));
      } catch (error) {
        controller.error(error);
      }
    },
    cancel: async () => {
      await iterator.return?.();
    },
  });
  return new Response(body, {
    headers: {
      "content-type": "text/csv; charset=utf-8",
      "content-disposition": `attachment; filename="${fileName}"`,
    },
  });
};
