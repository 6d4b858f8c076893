/** Matches names such as `ada.eth` and `pay.example.com`: labels separated by dots. */
const NAME = /^(?!0x)[^\s.:/]+(?:\.[^\s.:/]+)*\.[^\s.:/\d]{2,}$/iu;

/** Explains why a text without the form of an address is refused. */
export const notAnAddress = (text: string): string =>
  NAME.test(text)
    ? "is a name, and names (ENS) are not resolved here: give the 0x address that it stands for"
    : "must be a 0x address of 20 bytes";
