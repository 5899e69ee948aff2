// `vision_ocr`: the text in an image, by the program tesseract; vision.harn is what it does.

import { harnBuiltin } from '@bridle/vm/families'
import type { BuiltinFamily } from '@bridle/vm/families'
import { findHarnModule } from '../harn/modules.js'

const OPTIONS = `
  language: string = "eng" -- Languages by their names in tesseract, joined by \`+\`.
  page_mode: int -- How the page is laid out: the number that tesseract's \`--psm\` takes, 0 to 13.
  min_confidence: float = 0.0 -- Tokens below it are left out; from 0 to 1.
  timeout_ms: int (ms) = 60000 -- How long the program may take.
`

export const visionFamily: BuiltinFamily = {
  name: 'vision',
  modules: findHarnModule,
  builtins: [
    harnBuiltin(
      'vision_ocr(image: string | dict, options?: dict) -> dict',
      {
        doc:
          'The text in an image with its blocks, lines and tokens. The image is a path, `{path}` or `{base64}`. The program tesseract ' +
          'must be installed.',
        effects: ['fs.read', 'process.exec', 'clock.now', 'callback'],
        shapes: { options: OPTIONS },
      },
      { module: 'library/processes/vision', function: 'vision_ocr', output: 'drop' },
    ),
  ],
}
