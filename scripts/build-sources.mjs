// Files that are no sources of a build: tests, documents, and files that the build itself
// generates. If generated files counted as sources, the start after a build would build again.
const NOT_A_SOURCE =
  /(\.test\.tsx?|\.gen\.ts|\.md)$|^lib[\\/](platform[\\/]db[\\/]generated|dev[\\/]testing)([\\/]|$)/;

/**
 * @param {string} path of a file or folder, from the project's folder
 * @returns {boolean}
 */
export const isBuildSource = (path) => !NOT_A_SOURCE.test(path);
