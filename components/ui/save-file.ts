/** Hands a file to the browser. A link to the API cannot carry the access token, so what is saved is fetched first. */
export const saveFile = (text: string, name: string, mediaType = "text/csv"): void => {
  const url = URL.createObjectURL(new Blob([text], { type: `${mediaType};charset=utf-8` }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};
