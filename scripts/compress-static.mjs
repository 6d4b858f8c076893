// Prepares the built scripts and styles of the pages for serving: removes source maps, and
// compresses the other files. lib/http/static-files.ts sends them.
import { readdirSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const SOURCE_MAP = /\.map$/;
const COMPRESSIBLE = /\.(js|css|json|svg)$/;
/**
 * Compresses with quality 9 of 11. The two higher qualities save one per cent more, but take five
 * times as long.
 */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const compress = async (file) => {
  const content = await readFile(file);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(content, BROTLI),
    promisify(gzip)(content, { level: 9 }),
  ]);
  await Promise.all([writeFile(`${file}.br`, br), writeFile(`${file}.gz`, gz)]);
};

/**
 * Removes source maps below the folder, and compresses the files that compress well.
 * @param {string} folder the folder of static files that `next build` wrote
 */
export const compressStatic = async (folder) => {
  const files = readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  // Turbopack writes an empty source map for one of its own chunks even when source maps are off,
  // and no script refers to it.
  for (const file of files) if (SOURCE_MAP.test(file)) rmSync(file);
  await Promise.all(files.filter((file) => COMPRESSIBLE.test(file)).map(compress));
};
