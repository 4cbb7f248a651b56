/** Files that a person chooses in the page. */

const maxFile = 11 * 1024 * 1024;

/** Returns the bytes as a data URL. */
const readFile = (file) =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => resolve(reader.result));
    reader.addEventListener('error', () => reject(new Error('the file could not be read')));
    reader.readAsDataURL(file);
  });

const kindOf = ({ type }) => ['image', 'video', 'audio'].find((kind) => type.startsWith(`${kind}/`)) ?? 'document';

/** Returns the fields of a message content with this file. `data` is a data URL. */
export const contentOfFile = async (file, caption) => {
  if (file.size > maxFile) throw new Error('the file is larger than 11 MB');
  const data = await readFile(file);
  return { type: kindOf(file), data, mimetype: file.type || 'application/octet-stream', fileName: file.name, ...(caption && { caption }) };
};
