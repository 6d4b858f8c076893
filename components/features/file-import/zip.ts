import { RefusedFileError, SPREADSHEET_DAMAGED } from "./table";

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const COMMENT_BYTES_MAX = 0xffff;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
/**
 * The size field of a ZIP64 entry. ZIP64 archives are refused, because they are too large to be
 * read here.
 */
const ZIP64_SIZE = 0xffffffff;
const ENTRIES_MAX = 2_000;
const ENCRYPTED = 1;
const STORED = 0;
const DEFLATED = 8;

const damaged = (): RefusedFileError => new RefusedFileError(SPREADSHEET_DAMAGED);

const tooLarge = (): RefusedFileError =>
  new RefusedFileError(
    "The spreadsheet unpacks to more than a payout can hold. Keep only the rows to pay, or save it as CSV.",
  );

interface Entry {
  readonly method: number;
  readonly encrypted: boolean;
  readonly packedBytes: number;
  /** The size in the directory. The real size is checked while the entry unpacks. */
  readonly bytes: number;
  readonly offset: number;
}

export interface Archive {
  readonly names: readonly string[];
  /**
   * The text of an entry; null when there is no entry of that name.
   * @throws RefusedFileError
   */
  readonly text: (name: string) => Promise<string | null>;
}

const findEnd = (view: DataView): number => {
  const last = view.byteLength - END_BYTES;
  for (let at = last; at >= Math.max(0, last - COMMENT_BYTES_MAX); at -= 1)
    if (view.getUint32(at, true) === END_SIGNATURE) return at;
  throw damaged();
};

const readDirectory = (bytes: Uint8Array): Map<string, Entry> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEnd(view);
  const count = view.getUint16(end + 10, true);
  if (count > ENTRIES_MAX) throw tooLarge();
  const entries = new Map<string, Entry>();
  let at = view.getUint32(end + 16, true);
  for (let index = 0; index < count; index += 1) {
    if (at + ENTRY_BYTES > view.byteLength || view.getUint32(at, true) !== ENTRY_SIGNATURE)
      throw damaged();
    const nameBytes = view.getUint16(at + 28, true);
    const name = new TextDecoder().decode(
      bytes.subarray(at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
    );
    entries.set(name.replace(/^\//, ""), {
      encrypted: (view.getUint16(at + 8, true) & ENCRYPTED) !== 0,
      method: view.getUint16(at + 10, true),
      packedBytes: view.getUint32(at + 20, true),
      bytes: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    });
    at +=
      ENTRY_BYTES + nameBytes + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  return entries;
};

const packedOf = (
  bytes: Uint8Array<ArrayBuffer>,
  { offset, packedBytes }: Entry,
): Uint8Array<ArrayBuffer> => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (
    offset + LOCAL_BYTES > view.byteLength ||
    view.getUint32(offset, true) !== LOCAL_SIGNATURE
  )
    throw damaged();
  const start =
    offset +
    LOCAL_BYTES +
    view.getUint16(offset + 26, true) +
    view.getUint16(offset + 28, true);
  if (start + packedBytes > view.byteLength) throw damaged();
  return bytes.subarray(start, start + packedBytes);
};

/**
 * Unpacks and decodes an entry. Throws when the entry has more than `bytesMax`, because the size in
 * the directory can be wrong.
 */
const unpackText = async (
  packed: Uint8Array<ArrayBuffer>,
  method: number,
  bytesMax: number,
): Promise<string> => {
  const source = new Blob([packed]).stream();
  const stream =
    method === STORED ? source : source.pipeThrough(new DecompressionStream("deflate-raw"));
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for (;;) {
    const { done, value } = await reader.read().catch(() => {
      throw damaged();
    });
    if (done) break;
    bytes += value.byteLength;
    if (bytes > bytesMax) {
      await reader.cancel().catch(() => undefined);
      throw tooLarge();
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
  return parts.join("") + decoder.decode();
};

/**
 * Reads the entries of a ZIP archive as text. `bytesMax` limits the sum of all texts, because a few
 * kilobytes can unpack to gigabytes and the directory can state a false size.
 * @throws RefusedFileError
 */
export const openArchive = (bytes: Uint8Array<ArrayBuffer>, bytesMax: number): Archive => {
  const entries = readDirectory(bytes);
  let left = bytesMax;
  const text = async (name: string): Promise<string | null> => {
    const entry = entries.get(name);
    if (entry === undefined) return null;
    if (entry.encrypted || (entry.method !== STORED && entry.method !== DEFLATED))
      throw damaged();
    if (entry.bytes === ZIP64_SIZE || entry.packedBytes === ZIP64_SIZE || entry.bytes > left)
      throw tooLarge();
    const content = await unpackText(packedOf(bytes, entry), entry.method, entry.bytes);
    left -= entry.bytes;
    return content;
  };
  return { names: [...entries.keys()], text };
};
