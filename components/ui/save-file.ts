/** Hands a file to the browser. A link to the API cannot carry the access token, so the text is fetched first. */
export const saveFile = (text: string, name: string, mediaType = "text/csv"): void => {
  const type = mediaType.startsWith("text/") ? `${mediaType};charset=utf-8` : mediaType;
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
