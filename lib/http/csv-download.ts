const encoder = new TextEncoder();

/** A CSV file as a Response, sent while `lines` are made; they carry their own line ends. Lines are produced only as fast as the caller reads. */
export const csvDownload = (fileName: string, lines: AsyncIterable<string> | Iterable<string>): Response => {
  const iterator = Symbol.asyncIterator in lines ? lines[Symbol.asyncIterator]() : lines[Symbol.iterator]();
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
