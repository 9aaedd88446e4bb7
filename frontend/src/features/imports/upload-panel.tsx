/** Takes files of other tools: shows what the server recognised in each, and stores them when a person says so. */
import { MAX_FILE_BYTES } from '../../api/imports';
import { formatValue } from '../../lib/units';
import { Panel } from '../../ui/panel';
import { DropZone } from './drop-zone';
import classes from './imports.module.css';
import { OriginForm } from './origin-form';
import { UploadCard } from './upload-card';
import { useUploads } from './use-uploads';

export function UploadPanel() {
  const { uploads, announcement, add, storeAll, remove, clear } = useUploads();
  return (
    <Panel
      title="Import files"
      about={
        'The server recognises the tool of each file and shows what it read, before anything is stored. Logs and ' +
        'directories, such as target/criterion, are imported from the command line.'
      }
    >
      <DropZone
        hint={`JSON, XML or text as its tool wrote it, at most ${formatValue(MAX_FILE_BYTES, 'bytes')} each`}
        onFiles={add}
      />
      <p role="status" className="pl-visually-hidden">
        {announcement}
      </p>
      {uploads.length > 0 && (
        <>
          <ul className={classes.uploads}>
            {uploads.map((upload) => (
              <li key={upload.id}>
                <UploadCard
                  upload={upload}
                  onRemove={() => remove(upload.id)}
                />
              </li>
            ))}
          </ul>
          <OriginForm uploads={uploads} onStore={storeAll} onClear={clear} />
        </>
      )}
    </Panel>
  );
}
